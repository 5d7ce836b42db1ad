/* mesh_load: reads its input as a mesh; the first byte chooses the format. */
#include <Python.h>

#include <Base/Exception.h>
#include <Base/Sequencer.h>
#include <Mod/Mesh/App/Core/MeshIO.h>
#include <Mod/Mesh/App/Core/MeshKernel.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <sstream>
#include <string>

enum { MAX_SIZE = 1 << 16 };

static const MeshCore::MeshIO::Format formats[] = {
    MeshCore::MeshIO::STL, MeshCore::MeshIO::OBJ, MeshCore::MeshIO::SMF,
    MeshCore::MeshIO::IV,  MeshCore::MeshIO::NAS, MeshCore::MeshIO::PLY,
};

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static Base::EmptySequencer silent; /* the one that shows no progress */
    (void)argc;
    (void)argv;
    Py_InitializeEx(0); /* names in OBJ files are decoded by Python */
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > MAX_SIZE)
        return 0;
    std::istringstream text(std::string(reinterpret_cast<const char *>(data) + 1, size - 1));
    MeshCore::MeshKernel mesh;
    MeshCore::Material material;
    MeshCore::MeshInput reader(mesh, &material);
    try {
        reader.LoadFormat(text, formats[data[0] % (sizeof formats / sizeof *formats)]);
    } catch (const Base::Exception &) { /* it refuses what it does not understand */
    } catch (const std::exception &) {
    }
    return 0;
}
