// cases: the faults that need C++, for make.py.
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

volatile size_t ten = 10;
volatile int sink;

namespace media {
template <class T> struct Box {
    T *items;
    T at(size_t i) const { return items[i]; }
};
template <class T, class U> T convert(const Box<T> &b, U i) { return b.at(static_cast<size_t>(i)); }
class Reader {
public:
    std::vector<int> rows{1, 2, 3};
    int row(size_t i) { return rows.at(i); }
    int unchecked(size_t i) { return rows[i]; }
    bool operator()(int i) const { return rows[static_cast<size_t>(i) + ten] != 0; }
};
} // namespace media
namespace {
int hidden(media::Reader &r) { return r.unchecked(ten); }
} // namespace

static void cxx_exception() { media::Reader r; sink = r.row(ten); }
static void cxx_exception_int() { throw 42; }
static void cxx_template() { media::Box<int> b{static_cast<int *>(std::malloc(ten * 4))}; sink = media::convert<int, long>(b, 10L); }
static void cxx_anonymous() { media::Reader r; sink = hidden(r); }
static void cxx_operator() { media::Reader r; sink = r(1); }
static void cxx_lambda() { auto f = [](int *p) { return p[ten]; }; int *p = new int[10](); sink = f(p); }
static void cxx_mismatch() { int *volatile p = new int[10]; delete p; }
static void cxx_bad_alloc() { std::string s(ten << 40, 'x'); sink = s[0]; }
static void cxx_pure_map() { std::map<std::string, std::vector<int>> m; sink = m.at("x")[0]; }
static void cxx_delete_size() { struct A { char a[10]; }; struct B { char b[20]; }; A *volatile p = new A; delete reinterpret_cast<B *>(p); }

#define CASE(name) if (std::strcmp(argv[1], #name) == 0) name();
extern "C" int LLVMFuzzerTestOneInput(char **argv)
{
    CASE(cxx_exception) CASE(cxx_exception_int) CASE(cxx_template) CASE(cxx_anonymous) CASE(cxx_operator) CASE(cxx_lambda)
    CASE(cxx_mismatch) CASE(cxx_bad_alloc) CASE(cxx_pure_map) CASE(cxx_delete_size)
    return 0;
}
int main(int argc, char **argv) { return argc > 1 ? LLVMFuzzerTestOneInput(argv) & 0 : 1; }
