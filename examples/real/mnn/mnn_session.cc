/* mnn_session: takes its input for a model and makes a session of it on the CPU.  Runs nothing. */
#include <MNN/Interpreter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

enum { MAX_SIZE = 1 << 16 };

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8 || size > MAX_SIZE)
        return 0;
    std::shared_ptr<MNN::Interpreter> net(MNN::Interpreter::createFromBuffer(data, size),
                                          MNN::Interpreter::destroy);
    if (!net)
        return 0;
    MNN::ScheduleConfig config;
    config.type = MNN_FORWARD_CPU;
    config.numThread = 1;
    if (MNN::Session *session = net->createSession(config))
        net->getSessionInput(session, nullptr);
    return 0;
}
