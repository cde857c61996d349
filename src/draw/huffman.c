/* SPDX-License-Identifier: MIT
 *
 * Huffman codes of limited length. */
#include "draw/deflate.h"

#include <string.h>

#define SYMBOLS_MOST 286
#define NODES_MOST (2 * SYMBOLS_MOST)

typedef struct tree {
    uint32_t weight[NODES_MOST];
    int parent[NODES_MOST];
    int count;
} tree;

/* The lightest node without a parent, but not except; -1: none. */
static int lightest(const tree *t, int except)
{
    int best = -1;
    for (int i = 0; i < t->count; i++)
        if (t->parent[i] < 0 && i != except && t->weight[i] && (best < 0 || t->weight[i] < t->weight[best]))
            best = i;
    return best;
}

static void join_all(tree *t)
{
    for (;;) {
        int a = lightest(t, -1), b = a < 0 ? -1 : lightest(t, a);
        if (b < 0)
            return;
        t->weight[t->count] = t->weight[a] + t->weight[b];
        t->parent[t->count] = -1;
        t->parent[a] = t->parent[b] = t->count++;
    }
}

static int depth_of(const tree *t, int leaf)
{
    int depth = 0;
    for (int i = leaf; t->parent[i] >= 0; i = t->parent[i])
        depth++;
    return depth;
}

/* The deepest leaf. */
static int set_lengths(uint8_t *length, const tree *t, int count)
{
    int most = 0;
    for (int i = 0; i < count; i++) {
        int depth = t->weight[i] ? depth_of(t, i) : 0;
        length[i] = (uint8_t)depth;
        most = depth > most ? depth : most;
    }
    return most;
}

/* Weights that are too far apart make codes that are too long: they are brought nearer until it fits. */
void huffman_lengths(uint8_t *length, const uint32_t *weight, int count, int limit)
{
    tree t;
    int used = 0, near = 0;
    for (int i = 0; i < count; i++)
        used += weight[i] > 0;
    do {
        t.count = count;
        for (int i = 0; i < count; i++) {
            t.parent[i] = -1;
            t.weight[i] = weight[i] ? (weight[i] >> near) + 1 : 0;
        }
        for (int i = 0, have = used; have < 2 && i < count; i++)
            if (!t.weight[i]) {
                t.weight[i] = 1;
                have++;
            }
        join_all(&t);
        near++;
    } while (set_lengths(length, &t, count) > limit);
}

static unsigned turned(unsigned code, int bits)
{
    unsigned out = 0;
    for (; bits > 0; bits--, code >>= 1)
        out = out << 1 | (code & 1);
    return out;
}

void huffman_codes(uint16_t *code, const uint8_t *length, int count)
{
    unsigned next = 0;
    for (int bits = 1; bits < 16; bits++, next <<= 1)
        for (int i = 0; i < count; i++)
            if (length[i] == bits)
                code[i] = (uint16_t)turned(next++, bits);
}
