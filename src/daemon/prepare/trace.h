#pragma once
/* W3C trace context: a new span for each attempt, below the daemon's own if it has one. */

enum { TRACE_SIZE = sizeof "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
/* `parent`: a traceparent; NULL, or one that is none: a trace of its own begins. */
void trace_child(const char *parent, char ret[TRACE_SIZE]);
