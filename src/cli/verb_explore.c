/* SPDX-License-Identifier: MIT
 *
 * posenc explore: the page, which runs this library in a browser. It is inside the tool. */
#include "cli/job.h"

#include "draw/draw.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_ROOM 4096

static const cli_option options[] = {
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write the page to this file, which needs no other file" },
    { "print-url", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the link and open no browser" },
    { "lang", 0, CLI_CHOICE, "en|zh", NULL, 0, 0, "English or Chinese; default: the language of the browser" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc explore", "open the page in a browser" },
    { "posenc explore rope alibi", "with these two side by side" },
    { "posenc explore rope:theta=500000 -o page.html",
      "write the page to a file, and print a link that shows this encoding" },
    { "posenc explore --print-url --lang zh", "print the link only; the page is in Chinese" },
};

/* What was written, and how to see it. */
typedef struct explored {
    char page[PATH_ROOM], link[PATH_ROOM]; /* files; link "": none */
    char *fragment, *url;                  /* malloc'ed */
    const char *opener;                    /* NULL: not opened */
    char name[256];
} explored;

/* ---------------------------------------------------------------- the page inside the tool */

/* The assembler takes the file in as it is; CMake says where it lies (-I) and compiles this again when it changes. Its
 * data is NULL where the compiler could not take it in. */
#if defined __GNUC__ && !defined __wasm__

#if defined __APPLE__
#define SYMBOL(name) "_" #name
#define SECTION ".section __TEXT,__const\n"
#define BACK ".text\n"
#define HIDDEN ".private_extern "
#elif defined _WIN32
#define SYMBOL(name) #name
#define SECTION ".section .rdata,\"dr\"\n"
#define BACK ".text\n"
#define HIDDEN ".globl "
#else
#define SYMBOL(name) #name
#define SECTION ".pushsection .rodata.posenc_page,\"a\",%progbits\n"
#define BACK ".popsection\n"
#define HIDDEN ".hidden "
#endif

/* clang-format off */
__asm__(SECTION
        ".globl " SYMBOL(posenc_page) "\n"
        HIDDEN SYMBOL(posenc_page) "\n"
        ".globl " SYMBOL(posenc_page_end) "\n"
        HIDDEN SYMBOL(posenc_page_end) "\n"
        SYMBOL(posenc_page) ":\n"
        ".incbin \"posenc.html\"\n"
        SYMBOL(posenc_page_end) ":\n"
        ".byte 0\n"
        BACK);
/* clang-format on */

extern const uint8_t posenc_page[], posenc_page_end[];

static io_span explore_html(void)
{
    return (io_span){ posenc_page, (size_t)((uintptr_t)posenc_page_end - (uintptr_t)posenc_page) };
}

#else

static io_span explore_html(void)
{
    return (io_span){ NULL, 0 };
}

#endif

/* ---------------------------------------------------------------- links */

/* RFC 3986: what is not unreserved is written %XX. */
static void print_encoded(FILE *to, const char *text, const char *kept)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    for (; *text; text++)
        if (strchr(plain, *text) || strchr(kept, *text))
            fputc(*text, to);
        else
            fprintf(to, "%%%02X", (unsigned char)*text);
}

/* What a stream of open_memstream holds; NULL: no memory. */
static char *end_text(FILE *to, char **text)
{
    bool whole = to && !ferror(to);
    if (to && !fclose(to) && whole)
        return *text;
    free(*text);
    return NULL;
}

/* "#a=rope%3Atheta%3D500000&b=alibi&lang=zh"; "" where nothing is asked for. The page reads it as a form, where + is a
 * space. malloc'ed; NULL: no memory. */
static char *fragment_of(const cli_args *a)
{
    static const char *const name[] = { "a", "b", "lang" };
    const char *value[] = { a->operand[0], a->operand[1], cli_text(a, "lang") };
    char *text = NULL, sign = '#';
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    for (int i = 0; to && i < CLI_COUNT(name); i++) {
        if (!value[i])
            continue;
        fprintf(to, "%c%s=", sign, name[i]);
        print_encoded(to, value[i], "");
        sign = '&';
    }
    return end_text(to, &text);
}

/* "file:///home/me/a%20b.html#a=rope" of an absolute path. malloc'ed; NULL: no memory. */
static char *url_of(const char *path, const char *fragment)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to) {
        fputs("file://", to);
        print_encoded(to, path, "/");
        fputs(fragment, to);
    }
    return end_text(to, &text);
}

/* ---------------------------------------------------------------- the user's cache: a file for each version of the
 * page, and one for each link that was asked for */

static uint64_t hash_of(const void *data, size_t size)
{
    io_hash h = io_hash_start(0);
    io_hash_add(&h, data, size);
    return io_hash_end(&h);
}

/* The XDG Base Directory Specification: a relative path counts as not set. */
static cli_exit find_folder(char *out, const cli_args *a)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && cache[0] == '/';
    int length = own ? snprintf(out, PATH_ROOM, "%s/posenc", cache)
                     : snprintf(out, PATH_ROOM, "%s/.cache/posenc", home ? home : "");
    if (!own && (!home || home[0] != '/'))
        return cli_fail(a, CLI_SYSTEM, "neither XDG_CACHE_HOME nor HOME is set; say where the page goes: -o FILE");
    if (length < 0 || length >= PATH_ROOM - 64)
        return cli_fail(a, CLI_SYSTEM, "the path of the cache is too long; say where the page goes: -o FILE");
    return CLI_OK;
}

/* It and the folders above it, for the user alone. */
static cli_exit make_folder(char *path, const cli_args *a)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700); /* what is in the way is found below */
        *slash = '/';
    }
    if (mkdir(path, 0700) && errno != EEXIST)
        return cli_fail(a, CLI_SYSTEM, "%s: cannot be made: %s; say where the page goes: -o FILE", path,
                        strerror(errno));
    return CLI_OK;
}

static cli_exit write_html(const cli_args *a, const char *file)
{
    pe_error err;
    io_span html = explore_html();
    return io_write_file(file, &html, 1, &err) ? cli_fail_from(a, CLI_SYSTEM, NULL, &err) : CLI_OK;
}

/* A file that leads to the page with its fragment: what hands files to browsers may drop a fragment. */
static pe_status write_link(FILE *to, const void *with, pe_error *err)
{
    const explored *x = with;
    (void)err;
    fprintf(to, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>posenc</title>\n");
    fprintf(to, "<meta http-equiv=\"refresh\" content=\"0; url=%s", strrchr(x->page, '/') + 1);
    draw_escape(to, x->fragment);
    fprintf(to, "\">\n");
    return PE_OK;
}

static cli_exit keep_html(explored *x, const cli_args *a)
{
    char folder[PATH_ROOM], name[64];
    pe_error err;
    io_span html = explore_html();
    uint64_t hash = hash_of(html.data, html.size);
    CLI_TRY(find_folder(folder, a));
    CLI_TRY(make_folder(folder, a));
    snprintf(x->page, PATH_ROOM, "%.4000s/explore-%016" PRIx64 ".html", folder, hash);
    CLI_TRY(write_html(a, x->page));
    if (!*x->fragment)
        return CLI_OK;
    snprintf(name, sizeof name, "link-%016" PRIx64 ".html", hash_of(x->fragment, strlen(x->fragment)) ^ hash);
    snprintf(x->link, PATH_ROOM, "%.4000s/%s", folder, name);
    return io_make_file(folder, name, write_link, x, &err) ? cli_fail_from(a, CLI_SYSTEM, NULL, &err) : CLI_OK;
}

/* ---------------------------------------------------------------- a browser, by the program that the system has for
 * opening things */

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

static bool has_screen(void)
{
#if defined __APPLE__
    return true;
#else
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("WSL_DISTRO_NAME");
#endif
}

/* Whether there is someone to look: a terminal, and a screen or $BROWSER. */
static bool can_open(void)
{
    return isatty(STDOUT_FILENO) && (is_set("BROWSER") || has_screen());
}

/* In the child's child: becomes the opener, with nothing of our terminal, or says why not. */
static void become_program(const char *program, const char *url, int report)
{
    char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)url, NULL };
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    setsid();
    execvp(program, argv);
    int why = errno;
    if (write(report, &why, sizeof why) < 0)
        why = 0; /* nothing to be done about it */
    _exit(127);
}

/* The pipe closes by itself when the program has begun: nothing to read means it runs. */
static bool has_begun(int from)
{
    int why;
    ssize_t got;
    do
        got = read(from, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    return got == 0;
}

/* The child leaves at once, so that nobody has to wait for the browser. */
static bool start_program(const char *program, const char *url)
{
    int ends[2], code;
    if (pipe(ends))
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own == 0)
            become_program(program, url, ends[1]);
        _exit(own < 0);
    }
    close(ends[1]);
    bool begun = child > 0 && waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 0;
    begun = begun && has_begun(ends[0]);
    close(ends[0]);
    return begun;
}

/* $BROWSER is a list of programs between colons; one with a pattern (%s) would need a shell's rules, and is left. */
static const char *start_browser(char name[256], const char *url)
{
    const char *list = getenv("BROWSER");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0 && length < 256 && !memchr(list, '%', length)) {
            memcpy(name, list, length);
            name[length] = 0;
            if (start_program(name, url))
                return name;
        }
        list += length + (list[length] == ':');
    }
    return NULL;
}

/* Hands the URL to the first opener there is, without a shell and without waiting for it; its name, or NULL. The name
 * lives until the environment changes. */
static const char *start_opener(char name[256], const char *url)
{
    static const char *const openers[] = {
#if defined __APPLE__
        "open",
#endif
        "xdg-open",
        "wslview"
    };
    if (start_browser(name, url))
        return name;
    for (int i = 0; has_screen() && i < CLI_COUNT(openers); i++)
        if (start_program(openers[i], url))
            return openers[i];
    return NULL;
}

/* ---------------------------------------------------------------- the verb */

static cli_exit check_specs(const cli_args *a)
{
    for (int i = 0; i < a->operands; i++) {
        pe_error err;
        pe_encoding *e;
        if (pe_encoding_new(&e, a->operand[i], (pe_shape){ .heads = 8, .head_dim = 64 }, &err))
            return cli_fail_from(a, CLI_USAGE, NULL, &err);
        pe_encoding_free(e);
    }
    return CLI_OK;
}

/* To the file of -o, whose full path the link needs. */
static cli_exit write_out(explored *x, const cli_args *a, const char *file)
{
    char here[PATH_ROOM] = "";
    CLI_TRY(write_html(a, file));
    if (file[0] != '/' && !getcwd(here, sizeof here))
        return cli_fail(a, CLI_SYSTEM, "%s: its full path is not known: %s", file, strerror(errno));
    if (snprintf(x->page, PATH_ROOM, "%s%s%s", here, *here ? "/" : "", file) >= PATH_ROOM)
        return cli_fail(a, CLI_SYSTEM, "%s: its full path is too long for a link", file);
    return CLI_OK;
}

/* Where files are handed on, the link's file is: it leads to the page with its fragment. */
static void open_html(explored *x)
{
    char *url = url_of(*x->link ? x->link : x->page, "");
    x->opener = url ? start_opener(x->name, url) : NULL;
    free(url);
}

static void add_outcome(result *out, const explored *x, const cli_args *a)
{
    result_text(out, "file", NULL, x->page);
    result_code(out, "url", x->url);
    result_text(out, "opened_by", NULL, x->opener);
    if (x->opener)
        cli_note(a, "opened by %s", x->opener);
    else if (!cli_given(a, "print-url") && !cli_given(a, "json"))
        cli_note(a, "open this link in a browser; the page needs no network");
}

static cli_exit explore(explored *x, const cli_args *a, result *out)
{
    const char *file = cli_text(a, "out");
    io_span html = explore_html();
    CLI_TRY(check_specs(a));
    if (!html.data)
        return cli_fail(a, CLI_SYSTEM, "this posenc was built without its page; open web/posenc.html of its sources");
    if (file && !strcmp(file, "-"))
        return fwrite(html.data, 1, html.size, stdout) == html.size ? CLI_OK : CLI_SYSTEM;
    x->fragment = fragment_of(a);
    if (x->fragment)
        CLI_TRY(file ? write_out(x, a, file) : keep_html(x, a));
    x->url = x->fragment ? url_of(x->page, x->fragment) : NULL;
    if (!x->url)
        return cli_fail(a, CLI_SYSTEM, "no memory for a link");
    if (!file && !cli_given(a, "print-url") && !cli_given(a, "json") && can_open())
        open_html(x);
    add_outcome(out, x, a);
    return CLI_OK;
}

static cli_exit explore_verb(const cli_args *a, result *out)
{
    explored x = { .fragment = NULL };
    cli_exit code = explore(&x, a, out);
    free(x.fragment);
    free(x.url);
    return code;
}

const cli_verb cli_verb_explore = {
    .name = "explore",
    .summary = "open the page in a browser: a story, encodings side by side, your model's config",
    .operands = "[SPEC [SPEC]]",
    .operands_min = 0,
    .operands_max = 2,
    .notes = "The page is one HTML file that runs this library in the browser; nothing leaves the machine. The file is "
             "kept in XDG_CACHE_HOME or ~/.cache/posenc. Where there is a terminal and a screen, $BROWSER, xdg-open, "
             "open or wslview opens it; elsewhere the link is printed.",
    CLI_TABLES(options, examples),
    .run = explore_verb,
};
