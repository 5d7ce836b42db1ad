/* mhd: libmicrohttpd, loaded when a server is opened (base/library.h).  After mhd_load its functions are called by their
 * own names. */
#ifndef CAROL_WEB_MHD_H
#define CAROL_WEB_MHD_H

#include "base/err.h"

#include <microhttpd.h>

CAROL_MUST_CHECK int mhd_load(struct err *e);

#define MHD_FUNCTIONS(F)                                                                           \
    F(MHD_add_connection)                                                                          \
    F(MHD_add_response_header)                                                                     \
    F(MHD_create_response_from_buffer)                                                             \
    F(MHD_create_response_from_callback)                                                           \
    F(MHD_destroy_response)                                                                        \
    F(MHD_get_connection_info)                                                                     \
    F(MHD_get_daemon_info)                                                                         \
    F(MHD_get_timeout)                                                                             \
    F(MHD_get_version)                                                                             \
    F(MHD_lookup_connection_value)                                                                 \
    F(MHD_queue_response)                                                                          \
    F(MHD_resume_connection)                                                                       \
    F(MHD_run)                                                                                     \
    F(MHD_start_daemon)                                                                            \
    F(MHD_stop_daemon)                                                                             \
    F(MHD_suspend_connection)

#define MHD_DECLARE(name) extern __typeof__(name) *lib_##name;
MHD_FUNCTIONS(MHD_DECLARE)

#ifndef MHD_NAMES_ARE_THE_LIBRARYS
#define MHD_add_connection lib_MHD_add_connection
#define MHD_add_response_header lib_MHD_add_response_header
#define MHD_create_response_from_buffer lib_MHD_create_response_from_buffer
#define MHD_create_response_from_callback lib_MHD_create_response_from_callback
#define MHD_destroy_response lib_MHD_destroy_response
#define MHD_get_connection_info lib_MHD_get_connection_info
#define MHD_get_daemon_info lib_MHD_get_daemon_info
#define MHD_get_timeout lib_MHD_get_timeout
#define MHD_get_version lib_MHD_get_version
#define MHD_lookup_connection_value lib_MHD_lookup_connection_value
#define MHD_queue_response lib_MHD_queue_response
#define MHD_resume_connection lib_MHD_resume_connection
#define MHD_run lib_MHD_run
#define MHD_start_daemon lib_MHD_start_daemon
#define MHD_stop_daemon lib_MHD_stop_daemon
#define MHD_suspend_connection lib_MHD_suspend_connection
#endif

#endif
