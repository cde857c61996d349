/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: io wrap wrapio
 *
 * Files that tell whether they are whole, and folders that keep them. */
#include "io/safetensors.h"

#include "io_test.h"

static uint64_t sum(const void *data, size_t size, uint64_t seed)
{
    io_hash h = io_hash_start(seed);
    io_hash_add(&h, data, size);
    return io_hash_end(&h);
}

/* xxHash's own sanity check (cli/xsum_sanity_check.c): bytes of g >> 56, where g begins as PRIME32_1 and is multiplied
 * by PRIME64_1; and the examples of its users' documentation. */
TEST(xxh64_gives_the_published_values)
{
    static const struct {
        size_t size;
        uint64_t seed, sum;
    } made[] = {
        { 0, 0, 0xEF46DB3751D8E999u },
        { 0, 2654435761u, 0xAC75FDA2929B17EFu },
        { 1, 0, 0xE934A84ADB052768u },
        { 1, 2654435761u, 0x5014607643A9B4C3u },
        { 4, 0, 0x9136A0DCA57457EEu },
        { 14, 0, 0x8282DCC4994E35C8u },
        { 14, 2654435761u, 0xC3BD6BF63DEB6DF0u },
        { 222, 0, 0xB641AE8CB691C174u },
        { 222, 2654435761u, 0x20CB8AB7AE10C14Au },
    };
    static const struct {
        const char *text;
        uint64_t sum;
    } known[] = {
        { "a", 0xD24EC4F1A98C6E5Bu },
        { "abc", 0x44BC2CF5AD770999u },
        { "Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1u },
    };
    uint8_t bytes[222];
    uint64_t g = 2654435761u;
    for (size_t i = 0; i < sizeof bytes; i++, g *= 11400714785074694797u)
        bytes[i] = (uint8_t)(g >> 56);
    for (size_t i = 0; i < COUNT(made); i++)
        if (sum(bytes, made[i].size, made[i].seed) != made[i].sum)
            fail_msg("%zu bytes: %016llx", made[i].size, (unsigned long long)sum(bytes, made[i].size, made[i].seed));
    for (size_t i = 0; i < COUNT(known); i++)
        assert_true(sum(known[i].text, strlen(known[i].text), 0) == known[i].sum);
}

TEST(a_sum_does_not_depend_on_the_pieces)
{
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 3);
    for (size_t size = 0; size <= sizeof bytes; size++)
        for (size_t step = 1; step < 80; step += 3) {
            io_hash h = io_hash_start(5);
            for (size_t at = 0; at < size; at += step)
                io_hash_add(&h, bytes + at, size - at < step ? size - at : step);
            assert_true(io_hash_end(&h) == sum(bytes, size, 5));
        }
}

/* ---------------------------------------------------------------- sealed files */

static const float data_a[6] = { 1, 2, 3, 4, 5, 6 };
static const uint8_t data_b[3] = { 7, 8, 9 };
static const io_tensor tensors[] = {
    { .name = "weight \"1\"", .type = IO_F32, .rank = 2, .shape = { 2, 3 }, .bytes = (const uint8_t *)data_a },
    { .name = "empty", .type = IO_F64, .rank = 1, .shape = { 0 } },
    { .name = "a.b", .type = IO_U8, .rank = 1, .shape = { 3 }, .bytes = data_b },
};
static const io_pair meta[] = { { "step", "40" }, { "caf\xC3\xA9", "a\n" } };

static pe_status save(pe_error *why)
{
    pe_status s = io_safetensors_save(in_folder("t.safetensors"), tensors, COUNT(tensors), meta, COUNT(meta), why);
    unlink(path_text);
    return s;
}

static io_bytes saved(void)
{
    io_bytes b;
    expect("save", io_safetensors_save(in_folder("t.safetensors"), tensors, COUNT(tensors), meta, COUNT(meta), &err),
           PE_OK, &err);
    expect("read", io_read_file(&b, path_text, 10000, &err), PE_OK, &err);
    unlink(path_text);
    b.name = "t.safetensors";
    return b;
}

TEST(a_saved_file_reads_back)
{
    io_safetensors *st;
    io_bytes b = saved();
    expect("seal", io_safetensors_check_seal(&b, &err), PE_OK, &err);
    expect("parse", io_safetensors_parse(&st, &b, &err), PE_OK, &err);
    assert_int_equal(io_safetensors_count(st), 3);
    const io_tensor *t = io_safetensors_find(st, "weight \"1\"");
    assert_true(t && t->type == IO_F32 && t->rank == 2 && t->shape[0] == 2 && t->shape[1] == 3 && t->offset % 8 == 0);
    assert_memory_equal(t->bytes, data_a, sizeof data_a);
    t = io_safetensors_find(st, "a.b");
    assert_non_null(t);
    assert_memory_equal(t->bytes, data_b, sizeof data_b);
    assert_string_equal(io_safetensors_meta(st, "step"), "40");
    assert_string_equal(io_safetensors_meta(st, "caf\xC3\xA9"), "a\n");
    io_safetensors_free(st);
}

TEST(every_cut_and_every_bit_breaks_the_seal)
{
    io_bytes b = saved();
    for (size_t size = 0; size < b.size; size++) {
        io_bytes cut = { b.data, size, "t.safetensors" };
        expect("cut", io_safetensors_check_seal(&cut, &err), PE_ERR_FORMAT, &err);
        assert_true(strstr(err.text, "t.safetensors: is cut: it has ") != NULL);
    }
    for (size_t i = 0; i < b.size * 8; i++) {
        b.data[i / 8] ^= (uint8_t)(1u << i % 8);
        expect("bit", io_safetensors_check_seal(&b, &err), PE_ERR_FORMAT, &err);
        b.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    expect("as it was", io_safetensors_check_seal(&b, &err), PE_OK, &err);
    io_bytes_free(&b);
}

TEST(what_the_reader_would_refuse_is_not_written)
{
    io_tensor t = { .name = "x", .type = IO_F32, .rank = 2, .shape = { INT64_MAX, 3 } };
    expect("large", io_safetensors_save(in_folder("t"), &t, 1, NULL, 0, &err), PE_ERR_OVERFLOW, &err);
    t = (io_tensor){ .name = "\xff", .type = IO_F32 };
    expect("name", io_safetensors_save(in_folder("t"), &t, 1, NULL, 0, &err), PE_ERR_RANGE, &err);
    expect("meta", io_safetensors_save(in_folder("t"), NULL, 0, &(io_pair){ "k", "\xc3" }, 1, &err), PE_ERR_RANGE,
           &err);
    assert_int_equal(entries_in_folder(), 0);
}

TEST(memory_that_runs_out_is_reported)
{
    any_failed_allocation_of(save, "save");
}

/* ---------------------------------------------------------------- folders */

TEST(a_folder_that_cannot_be_synced_is_said)
{
    io_span part = { "x", 1 };
    play.fail_call[CALL_FSYNC] = 2; /* the first is the file's */
    play.error = EIO;
    expect("sync", io_write_file(in_folder("f"), &part, 1, &err), PE_ERR_IO, &err);
    assert_non_null(strstr(err.text, "folder cannot be synced: "));
    assert_non_null(strstr(err.text, strerror(EIO)));
    play.fail_call[CALL_FSYNC] = 2;
    play.error = EINVAL; /* a file system that knows no such thing */
    expect("none", io_write_file(in_folder("f"), &part, 1, &err), PE_OK, &err);
    empty_folder();
    play.fail_call[CALL_FSYNC] = 1;
    play.error = EIO;
    static const char *const paths[] = { "f", "/f", "/", "./f", "/tmp/", "//f//" };
    for (size_t i = 0; i < COUNT(paths); i++, play.fail_call[CALL_FSYNC] = 1) /* each has a folder */
        expect(paths[i], io_sync_folder_of(paths[i], &err), PE_ERR_IO, &err);
    play.fail_call[CALL_FSYNC] = 0;
    expect("absent", io_sync_folder_of("/absent/f", &err), PE_OK, &err);
}

TEST(a_temporary_file_tells_its_owner)
{
    static const struct {
        const char *name;
        long owner;
    } cases[] = {
        { "a.npy.123-0.tmp", 123 },
        { "x.1-99.tmp", 1 },
        { ".tmp", 0 },
        { "", 0 },
        { "123-0.tmp", 0 },
        { "x.123-.tmp", 0 },
        { "x.-0.tmp", 0 },
        { "x.12a-0.tmp", 0 },
        { "x.123-0.tmq", 0 },
        { "x.123_0.tmp", 0 },
        { "0.tmp", 0 },
        { "x.99999999999999999999-0.tmp", 0 },
        { "-0.tmp", 0 },
        { "mp", 0 },
        { ".7-0.tmp", 7 },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (io_temp_owner(cases[i].name) != cases[i].owner)
            fail_msg("%s: %ld", cases[i].name, io_temp_owner(cases[i].name));
    io_writer *w;
    expect("open", io_writer_open(&w, in_folder("made"), &err), PE_OK, &err);
    DIR *d = opendir(folder);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.')
            assert_int_equal(io_temp_owner(e->d_name), getpid());
    closedir(d);
    io_writer_abort(w);
}
