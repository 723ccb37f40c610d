#pragma once
/* W3C trace context: a new span for each attempt, within the daemon's own trace if it has one. */

enum { TRACE_SIZE = sizeof "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
/* `parent`: a traceparent; if it is NULL or not valid, a new trace begins. */
void trace_child(const char *parent, char ret[TRACE_SIZE]);
