#!/bin/bash -eu
# shellcheck disable=SC2086,SC2046  # flags are words, as in OSS-Fuzz
# FreeCAD's mesh readers with the files that they need, and the harness.  Most of the time goes into headers, so files
# that belong together are compiled as one.
cd "$SRC/freecad/src"
flags="-w -fPIC -I. -IMod/Mesh/App $(pkg-config --cflags Qt5Core Qt5Concurrent eigen3 python3 xerces-c)"
core=Mod/Mesh/App/Core wm4=Mod/Mesh/App/WildMagic4
together() { # NAME FILE...
    printf '#include "%s"\n' "${@:2}" >"$WORK/$1.cc"
}
constants=$(ls $wm4/Wm4{Math,Vector2,Vector3,Vector4,Matrix2,Matrix3,Matrix4,Quaternion}.cpp) # before others use them
together io $core/MeshIO.cpp
together core $core/{Definitions,Algorithm,Approximation,Builder,Degeneration,Elements,Evaluation,Grid,MeshKernel}.cpp \
    $core/{Smoothing,TopoAlgorithm,Triangulation,Visitor}.cpp
together fit $core/{CylinderFit,SphereFit}.cpp
together wm4 $constants $(printf '%s\n' $wm4/*.cpp | grep -vxF "$constants")
together base Base/{Base64,BaseClass,Builder3D,Console,ConsoleObserver,DualQuaternion,Exception,ExceptionFactory,Factory}.cpp \
    Base/{FileInfo,InputSource,Interpreter,Matrix,Placement,PyObjectBase,Reader,Rotation,Sequencer,Stream,TimeInfo}.cpp \
    Base/{Tools,Tools2D,Type,Vector3D,ViewProj,Writer,XMLTools}.cpp
together zip $(printf '%s\n' zipios++/*.cpp | grep -vxF zipios++/zipoutputstreambuf.cpp)
together zip2 zipios++/zipoutputstreambuf.cpp
together python CXX/{cxxsupport,cxx_extensions,IndirectPythonInterface}.cxx
together harness "$SRC/mesh_load.cc"
printf '%s\n' "$WORK"/{core,io,base,wm4,fit,zip,zip2,python,harness}.cc |
    xargs -P "$(nproc)" -I{} $CXX $CXXFLAGS -std=c++17 $flags -c {} -o {}.o
$CC $CFLAGS $flags -c CXX/cxxextensions.c -o "$WORK/cxxextensions.o"
$CC $CFLAGS $flags -c Base/PyTools.c -o "$WORK/PyTools.o"
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -lboost_filesystem -lboost_regex $(pkg-config --libs Qt5Core python3-embed xerces-c zlib) \
    -o "$OUT/mesh_load"
