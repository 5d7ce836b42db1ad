/* armnn_read: reads its input as a serialised network. */
#include <armnn/Exceptions.hpp>
#include <armnnDeserializer/IDeserializer.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

enum { MAX_SIZE = 1 << 16 };

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8 || size > MAX_SIZE)
        return 0;
    try {
        armnnDeserializer::IDeserializer::Create()->CreateNetworkFromBinary(
            std::vector<uint8_t>(data, data + size));
    } catch (const std::exception &) { /* it refuses what it does not understand */
    }
    return 0;
}
