/* lua_run: compiles its input as Lua and runs it with the libraries that touch nothing outside memory.  Steps
 * and memory are limited. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX_STEPS = 20000, MAX_MEMORY = 4 << 20, MAX_TEXT = 20000 };

static void *limited(void *used, void *p, size_t old, size_t n)
{
    size_t *sum = used;
    if (!p)
        old = 0;
    if (n > old && *sum + (n - old) > MAX_MEMORY)
        return NULL;
    void *q = n ? realloc(p, n) : NULL;
    if (!n)
        free(p);
    else if (!q)
        return NULL;
    *sum = *sum - old + n;
    return q;
}

static void enough(lua_State *l, lua_Debug *ar)
{
    (void)ar;
    luaL_error(l, "enough");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const luaL_Reg libraries[] = {{LUA_TABLIBNAME, luaopen_table},
                                         {LUA_STRLIBNAME, luaopen_string},
                                         {LUA_MATHLIBNAME, luaopen_math},
                                         {LUA_UTF8LIBNAME, luaopen_utf8},
                                         {LUA_COLIBNAME, luaopen_coroutine}};
    size_t used = 0;
    if (size > MAX_TEXT)
        return 0;
    lua_State *l = lua_newstate(limited, &used);
    if (!l)
        return 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(l, libraries[i].name, libraries[i].func, 1);
        lua_pop(l, 1);
    }
    lua_sethook(l, enough, LUA_MASKCOUNT, MAX_STEPS);
    if (luaL_loadbufferx(l, (const char *)data, size, "input", "t") == LUA_OK)
        lua_pcall(l, 0, 0, 0);
    lua_close(l);
    return 0;
}
