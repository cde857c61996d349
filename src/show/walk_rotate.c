/* SPDX-License-Identifier: MIT
 *
 * The rotation of the query and of a key, pair by pair: angle, cos and sin, the two elements; then their product. */
#include "show/walk.h"

#include "zoo/rotation.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TURN 6.283185307179586476925
enum { PAIRS_MAX = WIDTH_MAX / 2 };

/* How a word is rotated at its position, as query or as key. */
typedef struct rotated_pairs {
    pe_side side;
    int word;
    const double *from, *to; /* (D): before and after */
    pe_pair pair[PAIRS_MAX];
    bool trained; /* frequencies of each axis, which no formula tells: else a pair has one, of its axis */
    double wave[PAIRS_MAX][PE_AXES_MAX]; /* radians per position, of each axis */
    double cosine[PAIRS_MAX], sine[PAIRS_MAX];
    int64_t count;
    double gain;
    bool rotated[WIDTH_MAX]; /* (D): which elements are written by a pair */
    bool mixed[PAIRS_MAX];   /* its cos and sin are sums, told as C_n and S_n */
    bool rounded;            /* an angle is not position times frequency: the spec rounds it */
} rotated_pairs;

static char pairs_letter(const rotated_pairs *p)
{
    return p->side == PE_KEY ? 'k' : 'q';
}

static void pairs_fill_waves(rotated_pairs *p, const walk_scene *s)
{
    for (int64_t n = 0; n < p->count; n++)
        for (int64_t a = 0; a < s->axes; a++)
            p->wave[n][a] = p->trained               ? zoo_trained_frequency(s->e, s->params, s->head, a, n)
                            : a == p->pair[n].axis ? p->pair[n].frequency
                                                   : 0;
}

static pe_status pairs_ask(rotated_pairs *p, const walk_scene *s, pe_side side, int word, pe_error *err)
{
    const int64_t *place = walk_scene_at(s, word);
    pe_positions at = pe_positions_of(place, PE_I64, 1, 1, s->axes);
    *p = (rotated_pairs){ .side = side, .word = word, .from = s->y + word * s->D };
    p->to = side == PE_KEY ? s->with.k + word * s->D : s->with.q;
    p->count = pe_encoding_pair_count(s->e);
    p->gain = pe_encoding_gain(s->e, side, place[0]);
    TRY(pe_encoding_pairs(s->e, p->pair, p->count, err));
    p->trained = zoo_trained_rotation(s->e) && (s->axes > 1 || s->r->params.count);
    pairs_fill_waves(p, s);
    for (int64_t n = 0; n < p->count; n++)
        p->rotated[p->pair[n].x_out] = p->rotated[p->pair[n].y_out] = true;
    return zoo_rotate_table(pe_view_of(p->cosine, PE_F64, 1, 1, 1, p->count),
                            pe_view_of(p->sine, PE_F64, 1, 1, 1, p->count), s->e, s->params, s->head, side, at, err);
}

/* The angle at position 0, in steps of half a position: some specs measure positions at the middles of cells. */
static void rotate_put_phase(walk *w, walk_scene *s, const pe_pair *two, int64_t n)
{
    number_text steps = tell_factor(rint(2 * two->phase / two->frequency) / 2);
    tell t = tell_into(s->text, sizeof s->text);
    tell_say(&t, "f_%" PRId64 " · %s = %s · %s", n, steps.text, tell_factor(two->frequency).text, steps.text);
    walk_equation(w, walk_name("phase_%" PRId64, n).text, s->text, two->phase);
}

/* Shows the frequencies of each axis, before training or after it. */
static void rotate_trained_step(walk *w, walk_scene *s, const rotated_pairs *p)
{
    static const words title = { "the frequency of each pair", "每一对的频率" };
    static const words notes[] = {
        { "f_n[a] is trained: radians per position of pair n on axis a. Here are the values before training.",
          "f_n[a] 由训练得到：第 n 对在轴 a 上每前进一个位置转过的弧度。这里是训练之前的值。" },
        { "f_n[a] is trained: radians per position of pair n on axis a. Here are the given values.",
          "f_n[a] 由训练得到：第 n 对在轴 a 上每前进一个位置转过的弧度。这里是给出的值。" }
    };
    walk_begin(w, title, NULL, notes[s->r->params.count > 0]);
    for (int64_t n = 0; n < p->count; n++)
        for (int64_t a = 0; a < s->axes; a++)
            walk_equation(w, walk_name("f_%" PRId64 "[%" PRId64 "]", n, a).text, tell_number(p->wave[n][a]).text,
                          p->wave[n][a]);
}

/* Shows how each pair's frequency is computed, and its phase. */
static void rotate_frequency_step(walk *w, walk_scene *s, rotated_pairs *p, int formula)
{
    static const words title = { "the frequency of each pair", "每一对的频率" };
    static const words note = { "Angle per position, in radians.", "每前进一个位置转过的角度，单位是弧度。" };
    static const words start = { "Angle per position, in radians. These frequencies are trained; here they have the values "
                                 "from which training starts.",
                                 "每前进一个位置转过的角度，单位是弧度。这些频率由训练得到；这里是训练开始时的值。" };
    walk_begin(w, title, s->formula[formula].text, zoo_trained_rotation(s->e) ? start : note);
    for (int64_t n = 0; n < p->count; n++) {
        double frequency = walk_scene_tell_pair(s, formula, PE_QUERY, p->word, n, s->text, sizeof s->text);
        p->mixed[n] = !strncmp(s->text, "C_", 2);
        walk_equation(w, walk_name("f_%" PRId64, n).text, s->text, frequency);
        if (p->pair[n].phase != 0)
            rotate_put_phase(w, s, &p->pair[n], n);
    }
}

/* Shows the angle, and the angle without whole turns, which is that of the library's cos and sin. */
static double rotate_put_angle(walk *w, walk_scene *s, rotated_pairs *p, int64_t n)
{
    const pe_pair *two = &p->pair[n];
    const int64_t *at = walk_scene_at(s, p->word);
    double angle = two->phase, rest = atan2(p->sine[n], p->cosine[n]);
    const char *plus = "";
    tell t = tell_into(s->text, sizeof s->text);
    for (int64_t a = 0; a < s->axes; a++) {
        angle += (double)at[a] * p->wave[n][a];
        if (p->trained || a == two->axis) {
            tell_say(&t, "%s%" PRId64 " · %s", plus, at[a], tell_factor(p->wave[n][a]).text);
            plus = " + ";
        }
    }
    double turns = floor((angle - rest) / TURN + 0.5);
    if (two->phase != 0)
        tell_say(&t, " + %s", tell_factor(two->phase).text);
    walk_equation(w, walk_name("angle_%" PRId64, n).text, s->text, angle);
    if (fabs(angle - turns * TURN - rest) > 1e-5)
        p->rounded = true;
    else if (turns != 0) {
        t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%s - 2π · %s", tell_number(angle).text, tell_factor(turns).text);
        walk_equation(w, walk_name("angle_%" PRId64, n).text, s->text, rest);
    }
    return rest;
}

/* Shows cos and sin, with their magnitude where it is not 1; of a mixture, the sums. */
static void rotate_put_cos_sin(walk *w, walk_scene *s, rotated_pairs *p, int64_t n)
{
    double size = hypot(p->cosine[n], p->sine[n]), angle = p->mixed[n] ? 0 : rotate_put_angle(w, s, p, n);
    bool sized = fabs(size - 1) > 1e-9;
    for (int which = 0; which < 2; which++) {
        tell t = tell_into(s->text, sizeof s->text);
        if (p->mixed[n])
            tell_say(&t, "%c_%" PRId64, which ? 'S' : 'C', n);
        else {
            if (sized)
                tell_say(&t, "%s · ", tell_number(size).text);
            tell_say(&t, "%s(%s)", which ? "sin" : "cos", tell_number(angle).text);
        }
        walk_equation(w, walk_name("%c_%" PRId64, which ? 's' : 'c', n).text, s->text,
                      which ? p->sine[n] : p->cosine[n]);
    }
}

/* Shows x' = x c - y s and y' = x s + y c. */
static void rotate_put_pair(walk *w, walk_scene *s, const rotated_pairs *p, int64_t n)
{
    const pe_pair *two = &p->pair[n];
    number_text x = tell_factor(p->from[two->x]), y = tell_factor(p->from[two->y]);
    number_text c = tell_factor(p->cosine[n]), sine = tell_factor(p->sine[n]);
    char q = pairs_letter(p);
    tell t = tell_into(s->text, sizeof s->text);
    tell_say(&t, "%c[%" PRId64 "] · c - %c[%" PRId64 "] · s = %s · %s - %s · %s", q, two->x, q, two->y, x.text, c.text,
             y.text, sine.text);
    walk_equation(w, walk_name("%c'[%" PRId64 "]", q, two->x_out).text, s->text, p->to[two->x_out]);
    t = tell_into(s->text, sizeof s->text);
    tell_say(&t, "%c[%" PRId64 "] · s + %c[%" PRId64 "] · c = %s · %s + %s · %s", q, two->x, q, two->y, x.text,
             sine.text, y.text, c.text);
    walk_equation(w, walk_name("%c'[%" PRId64 "]", q, two->y_out).text, s->text, p->to[two->y_out]);
}

static void rotate_put_rest(walk *w, walk_scene *s, const rotated_pairs *p)
{
    for (int64_t d = 0; d < s->D; d++) {
        if (p->rotated[d])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%c[%" PRId64 "]", pairs_letter(p), d);
        if (p->gain != 1)
            tell_say(&t, " · %s", tell_number(p->gain).text);
        tell_say(&t, " = %s", tell_number(p->from[d]).text);
        if (p->gain != 1)
            tell_say(&t, " · %s", tell_number(p->gain).text);
        walk_equation(w, walk_name("%c'[%" PRId64 "]", pairs_letter(p), d).text, s->text, p->to[d]);
    }
}

static double rotate_put_norm(walk *w, walk_scene *s, const char *name, const double *x)
{
    double sum = 0;
    tell t = tell_into(s->text, sizeof s->text);
    tell_say(&t, "sqrt(");
    for (int64_t d = 0; d < s->D; d++) {
        tell_say(&t, "%s%s^2", d ? " + " : "", tell_factor(x[d]).text);
        sum += x[d] * x[d];
    }
    tell_say(&t, ")");
    walk_equation(w, name, s->text, sqrt(sum));
    return sqrt(sum);
}

/* Shows the same product from the distance alone: the query at i - j, the key at 0. */
static pe_status rotate_put_distance(walk *w, walk_scene *s, pe_error *err)
{
    double q[WIDTH_MAX], k[WIDTH_MAX], sum = 0, size = 0;
    int64_t at[PE_AXES_MAX], zero[PE_AXES_MAX] = { 0 };
    pe_view vq = pe_view_of(q, PE_F64, 1, 1, 1, s->D), vk = pe_view_of(k, PE_F64, 1, 1, 1, s->D), x = vq, y = vk;
    double far = 0; /* an angle is as exact as the position is small */
    for (int64_t a = 0; a < s->axes; a++) {
        at[a] = walk_scene_at(s, s->query)[a] - walk_scene_at(s, s->key)[a];
        far += fabs((double)walk_scene_at(s, s->query)[a]) + fabs((double)at[a]);
    }
    x.data = s->y + s->query * s->D;
    y.data = s->y + s->key * s->D;
    TRY(zoo_rotate_head(vq, x, s->e, s->params, s->head, PE_QUERY, pe_positions_of(at, PE_I64, 1, 1, s->axes), err));
    TRY(zoo_rotate_head(vk, y, s->e, s->params, s->head, PE_KEY, pe_positions_of(zero, PE_I64, 1, 1, s->axes), err));
    for (int64_t d = 0; d < s->D; d++) {
        sum += q[d] * k[d];
        size += fabs(q[d]) + fabs(k[d]);
    }
    char distance[PLACE_ROOM], zero_text[PLACE_ROOM];
    walk_place(distance, at, s->axes);
    walk_place(zero_text, zero, s->axes);
    tell t = tell_into(s->text, sizeof s->text);
    tell_products(&t, q, k, s->D);
    walk_equation(w, walk_name("q'_%s·k'_%s", distance, zero_text).text, s->text, sum);
    return walk_scene_hold(s, sum, s->with.dot[s->key], size * size * (1 + far), err);
}

static void rotate_put_product(walk *w, walk_scene *s)
{
    const double *k = s->with.k + s->key * s->D;
    tell t = tell_into(s->text, sizeof s->text);
    tell_products(&t, s->with.q, k, s->D);
    walk_equation(w, walk_name("q'_%s·k'_%s", s->place[s->query], s->place[s->key]).text, s->text, s->with.dot[s->key]);
}

static const words round_note = { "This spec rounds its angles: cos and sin are those of the rounded angle.",
                                  "这个 spec 计算角度时会舍入：cos 和 sin 取自舍入后的角度。" };
static const words mixed_note = { "This spec mixes frequencies: C and S stand for cos and sin.",
                                  "这个 spec 混合多个频率：C 和 S 代替 cos 和 sin。" };
static const words same_note = { "The other keys are rotated in the same way, each at its own position.",
                                 "其余的键同样旋转，各按自己的位置。" };
static const words values_note = { "This spec rotates values too, each at its own position.",
                                   "这个 spec 也旋转值，各按自己的位置。" };
static const words norm_note = { "A rotation keeps the length of a vector.", "旋转不改变向量的长度。" };
static const words relative_note = {
    "The score depends only on the distance: the query at i - j and the key at 0 give the same.",
    "分数只与距离有关：把查询放到 i - j、键放到 0，结果相同。"
};

static pe_status rotate_after_step(walk *w, walk_scene *s, pe_error *err)
{
    unsigned claims = pe_encoding_claims(s->e);
    static const words title = { "length and product", "长度与内积" };
    bool relative = claims & PE_CLAIM_RELATIVE;
    walk_begin(w, title, NULL, relative ? relative_note : (words){ NULL, NULL });
    rotate_put_norm(w, s, "|q|", s->y + s->query * s->D);
    rotate_put_norm(w, s, "|q'|", s->with.q);
    if (claims & PE_CLAIM_NORM)
        walk_sentence(w, say(norm_note, w->language));
    rotate_put_product(w, s);
    return relative ? rotate_put_distance(w, s, err) : PE_OK;
}

/* Shows the rotation of one word; formula: of the frequencies, for what a key's position changes in them. */
static void rotate_step(walk *w, walk_scene *s, rotated_pairs *p, int formula, words title)
{
    char letter = pairs_letter(p);
    bool mixed = false;
    walk_begin(w, title, "x' = x c - y s, y' = x s + y c", (words){ NULL, NULL });
    walk_vector(w, walk_name("%c_%s", letter, s->place[p->word]).text, NULL, p->from, s->D);
    for (int64_t n = 0; n < p->count; n++) {
        if (!p->trained) {
            walk_scene_tell_pair(s, formula, p->side, p->word, n, s->text, sizeof s->text);
            walk_lines_before(w, s->text);
        }
        rotate_put_cos_sin(w, s, p, n);
        rotate_put_pair(w, s, p, n);
        mixed = mixed || p->mixed[n];
    }
    rotate_put_rest(w, s, p);
    if (mixed || p->rounded)
        walk_sentence(w, say(mixed ? mixed_note : round_note, w->language));
    walk_vector(w, walk_name("%c'_%s", letter, s->place[p->word]).text, NULL, p->to, s->D);
}

static void rotate_put_others(walk *w, walk_scene *s)
{
    walk_sentence(w, say(same_note, w->language));
    for (int t = 0; t < TOKENS; t++)
        if (t != s->key)
            walk_vector(w, walk_name("k'_%s (%s)", s->place[t], walk_word(s, t)).text, NULL, s->with.k + t * s->D,
                        s->D);
    if (!memcmp(s->with.v, s->y, (size_t)(TOKENS * s->D) * sizeof *s->y))
        return;
    walk_sentence(w, say(values_note, w->language));
    for (int t = 0; t < TOKENS; t++)
        walk_vector(w, walk_name("v'_%s (%s)", s->place[t], walk_word(s, t)).text, NULL, s->with.v + t * s->D, s->D);
}

/* Shows the factor on the query of an encoding that has one without pairs. */
static void rotate_gain_step(walk *w, walk_scene *s, int formula)
{
    static const words title = { "the query is multiplied by tau", "查询乘以 tau" };
    static const words note = { "Keys and values stay as they are.", "键和值保持不变。" };
    const double *from = s->y + s->query * s->D;
    walk_begin(w, title, "q' = tau q", note);
    walk_vector(w, walk_name("q_%s", s->place[s->query]).text, NULL, from, s->D);
    double tau = walk_scene_tell(s, formula, s->key, 0, s->text, sizeof s->text);
    walk_equation(w, "tau", s->text, tau);
    for (int64_t d = 0; d < s->D; d++) {
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "tau · q[%" PRId64 "] = %s · %s", d, tell_number(tau).text, tell_factor(from[d]).text);
        walk_equation(w, walk_name("q'[%" PRId64 "]", d).text, s->text, s->with.q[d]);
    }
    walk_vector(w, walk_name("q'_%s", s->place[s->query]).text, NULL, s->with.q, s->D);
}

pe_status walk_rotate(walk *w, walk_scene *s, pe_error *err)
{
    static const words title = { "the query is rotated, pair by pair", "查询逐对旋转" };
    static const words again = { "the key is rotated, pair by pair", "键逐对旋转" };
    rotated_pairs p, k;
    int formula = -1;
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook == PE_HOOK_ROTATE)
            formula = i;
    if (formula < 0)
        return PE_OK;
    if (!pe_encoding_pair_count(s->e)) {
        rotate_gain_step(w, s, formula);
        return PE_OK;
    }
    TRY(pairs_ask(&p, s, PE_QUERY, s->query, err));
    TRY(pairs_ask(&k, s, PE_KEY, s->key, err));
    if (p.trained)
        rotate_trained_step(w, s, &p);
    else
        rotate_frequency_step(w, s, &p, formula);
    memcpy(k.mixed, p.mixed, sizeof k.mixed);
    rotate_step(w, s, &p, formula, title);
    rotate_step(w, s, &k, formula, again);
    rotate_put_others(w, s);
    return rotate_after_step(w, s, err);
}
