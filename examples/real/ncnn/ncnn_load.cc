/* ncnn_load: loads a network.  The input is its description, as text up to a NUL or in binary form, then its weights. */
#include "datareader.h"
#include "net.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

enum { MAX_SIZE = 1 << 16 };

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4 || size > MAX_SIZE)
        return 0;
    ncnn::Net net;
    net.opt.num_threads = 1;
    net.opt.lightmode = true;
    const bool text = data[0] == '7'; /* of the magic number 7767517, in digits or as four bytes */
    const void *end = text ? memchr(data, 0, size) : nullptr;
    const unsigned char *at = data;
    const size_t described = end ? static_cast<size_t>(static_cast<const uint8_t *>(end) - data) : size;
    const ncnn::DataReaderFromMemory description(at, described);
    if ((text ? net.load_param(description) : net.load_param_bin(description)) != 0)
        return 0;
    if (text)
        at = data + (end ? described + 1 : size);
    const ncnn::DataReaderFromMemory weights(at, static_cast<size_t>(data + size - at));
    net.load_model(weights);
    return 0;
}
