// shapes: a C++ target with exceptions, virtual calls and new.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    explicit Square(int s) : side(s) {}
    int area() const override { return side * side; }
};
struct Line : Shape {
    int area() const override { throw std::runtime_error("a line has none"); }
};

static std::unique_ptr<Shape> make(uint8_t kind)
{
    if (kind == 'L')
        return std::make_unique<Line>();
    return std::make_unique<Square>(kind);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<std::unique_ptr<Shape>> all;
    for (size_t i = 0; i < size; i++)
        all.push_back(make(data[i]));
    try {
        int sum = 0;
        for (auto &s : all)
            sum += s->area();
        if (sum == 12345)
            std::abort();
    } catch (const std::runtime_error &) {
        return 0;
    }
    if (size && data[0] == 'U')
        throw std::string("nobody catches this");
    return 0;
}
