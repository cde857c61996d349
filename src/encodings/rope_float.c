/* SPDX-License-Identifier: MIT
 *
 * precision=hf and precision=ggml: RoPE's angles as transformers (modeling_rope_utils.py) and ggml (ggml_rope_yarn)
 * form them in float32, one function each to prepare a pair and one each for its angle. What they round is rounded
 * here, in their order; their powf is the libm's. */
#include "encodings/rope.h"

static float clamp01(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* transformers rounds the ramp's ends from Python's doubles. */
static float hf_ramp(const part *p, slot s)
{
    double end[2], d = (double)s.width;
    for (int i = 0; i < 2; i++)
        end[i] = d * log(num(p, TRAINED) / (num(p, i ? BETA_SLOW : BETA_FAST) * wide_two_pi().part[0])) /
                 (2 * log(num(p, THETA)));
    if (num(p, TRUNCATE) != 0) {
        end[0] = floor(end[0]);
        end[1] = ceil(end[1]);
    }
    end[0] = fmax(end[0], 0);
    end[1] = fmin(end[1], d - 1);
    if (end[0] == end[1])
        end[1] += 0.001;
    return clamp01(((float)s.index - (float)end[0]) / (float)(end[1] - end[0]));
}

static float hf_llama3(const part *p, float inverse)
{
    float length = 0x1.921fb6p+2f / inverse, trained = (float)num(p, TRAINED);
    float low = (float)num(p, LOW), high = (float)num(p, HIGH), factor = (float)num(p, FACTOR);
    if (length > trained / low)
        return inverse / factor;
    if (length < trained / high || low == high)
        return inverse;
    float smooth = (trained / length - low) / (high - low);
    return (1 - smooth) * inverse / factor + smooth * inverse;
}

static float hf_inverse(const part *p, double theta, int64_t n, slot s)
{
    float power = powf((float)theta, (float)(2 * s.index) / (float)rope_denominator(p, s)), inverse = 1 / power;
    float factor = p->value[FACTOR].given ? (float)num(p, FACTOR) : 1;
    switch ((scaling)whole(p, SCALING)) {
    case LINEAR: return inverse / factor;
    case YARN: {
        float keep = 1 - hf_ramp(p, s);
        return 1 / (factor * power) * (1 - keep) + inverse * keep;
    }
    case LONGROPE: return 1 / ((float)p->value[rope_is_long(p) ? LONG : SHORT].list[n] * power);
    case LLAMA3: return hf_llama3(p, inverse);
    case PROPORTIONAL: return rope_rotates(p, s) ? inverse / factor : 0;
    default: return inverse;
    }
}

void rope_prepare_hf(const part *p, float_pair *f, double theta, double ratio, int64_t n, slot s)
{
    (void)ratio;
    f->inverse = hf_inverse(p, theta, n, s);
    if (num(p, COORDS) != 0)
        f->inverse *= (float)(wide_two_pi().part[0] / p->value[EXTENT].list[s.axis]);
}

float rope_angle_hf(const float_pair *f, int64_t steps)
{
    return (float)steps * f->inverse * f->sign;
}

/* ggml always rounds the ramp's ends outwards. */
static float ggml_ramp(const part *p, slot s)
{
    float d = (float)s.width, theta = (float)num(p, THETA), trained = (float)num(p, TRAINED), end[2];
    for (int i = 0; i < 2; i++)
        end[i] =
            d * logf(trained / ((float)num(p, i ? BETA_SLOW : BETA_FAST) * 2 * 0x1.921fb6p+1f)) / (2 * logf(theta));
    float low = fmaxf(0, floorf(end[0])), high = fminf(d - 1, ceilf(end[1]));
    return clamp01(((float)s.index - low) / fmaxf(0.001f, high - low));
}

/* linear is its freq_scale, yarn its ramp over freq_scale, all else its frequency factors: plain over scaled. */
void rope_prepare_ggml(const part *p, float_pair *f, double theta, double ratio, int64_t n, slot s)
{
    scaling how = (scaling)whole(p, SCALING);
    bool scales = how == LINEAR || how == YARN;
    (void)n;
    f->index = s.index;
    f->step = powf((float)theta, -2.0f / (float)rope_denominator(p, s));
    f->divisor = scales ? 1 : (float)(1 / ratio);
    f->scale = scales ? 1 / (float)num(p, FACTOR) : 1;
    f->mix = how == YARN ? 1 - ggml_ramp(p, s) : 0;
}

float rope_angle_ggml(const float_pair *f, int64_t steps)
{
    float angle = (float)steps;
    for (int64_t i = 0; i < f->index; i++)
        angle *= f->step;
    angle /= f->divisor;
    float slow = f->scale * angle;
    return f->sign * (f->mix != 0 ? slow * (1 - f->mix) + angle * f->mix : slow);
}
