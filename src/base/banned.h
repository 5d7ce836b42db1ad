/* banned: force-included into every file of ours; using one of these is a compile error. */
#ifndef CAROL_BASE_BANNED_H
#define CAROL_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef system
#undef popen
#undef gmtime
#undef localtime
#undef atoi
#undef atol
#undef rand
#undef srand
#define strcpy(...) carol_banned_strcpy
#define strcat(...) carol_banned_strcat
#define strncpy(...) carol_banned_strncpy
#define strncat(...) carol_banned_strncat
#define sprintf(...) carol_banned_sprintf
#define vsprintf(...) carol_banned_vsprintf
#define strtok(...) carol_banned_strtok
#define system(...) carol_banned_system
#define popen(...) carol_banned_popen
#define gmtime(...) carol_banned_gmtime
#define localtime(...) carol_banned_localtime
#define atoi(...) carol_banned_atoi
#define atol(...) carol_banned_atol
#define rand(...) carol_banned_rand
#define srand(...) carol_banned_srand

#endif
