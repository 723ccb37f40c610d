#pragma once
/* The parts of a headline, of its planning line and of its property drawer: what org.c puts together. */
#include "core/org/org.h"

/* The number of stars if the line is a headline, else 0. */
unsigned headline_level(struct str line);
/* Reads keyword, priority, title and tags of the headline at h->at; h->level and h->body are known. */
void headline_read(const struct org *o, struct org_head *h);
/* Reads the planning line at h->body, and the property drawer after it. E_LIMIT: the drawer is too long. */
void planning_read(const struct org *o, struct org_head *h);
must_check enum err drawer_read(const struct org *o, struct org_head *h, struct why *why);
