/* mnn_session: reads its input as a model, makes a session of it on the CPU and, where that is little work, runs it. */
#include <MNN/Interpreter.hpp>
#include <MNN/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

enum { MAX_SIZE = 1 << 16, MAX_MEGABYTES = 16, MAX_MEGAFLOPS = 4 };

static bool is_little_work(MNN::Interpreter *net, MNN::Session *session)
{
    float megabytes = 0, megaflops = 0;
    int waiting = 1;
    net->getSessionInfo(session, MNN::Interpreter::MEMORY, &megabytes);
    net->getSessionInfo(session, MNN::Interpreter::FLOPS, &megaflops);
    net->getSessionInfo(session, MNN::Interpreter::RESIZE_STATUS, &waiting);
    return !waiting && megabytes <= MAX_MEGABYTES && megaflops <= MAX_MEGAFLOPS;
}

static void run(MNN::Interpreter *net, MNN::Session *session)
{
    for (const auto &input : net->getSessionInputAll(session))
        if (input.second->host<char>())
            memset(input.second->host<char>(), 0, static_cast<size_t>(input.second->size()));
    net->runSession(session);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8 || size > MAX_SIZE)
        return 0;
    std::unique_ptr<MNN::Interpreter> net(MNN::Interpreter::createFromBuffer(data, size));
    if (!net)
        return 0;
    MNN::ScheduleConfig config;
    config.type = MNN_FORWARD_CPU;
    config.numThread = 1;
    MNN::Session *session = net->createSession(config);
    if (session && is_little_work(net.get(), session))
        run(net.get(), session);
    return 0;
}
