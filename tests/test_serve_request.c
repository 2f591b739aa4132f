/* Tests the server without sockets: the parser of requests and what it refuses, out-of-memory, the JSON of
 * answers, batching several requests as one, and the models that it loads by name. */
#include <string.h>

#include "alloc_count.h"
#include "app/request.h"
#include "unit.h"

extern const endpoint order_endpoint;
static const request_limits limits = {.sets = 3, .items = 5, .beam = 10, .cells = 500, .seconds = 1};
static models served;

static int load_models(void **state) {
    onet_error err;
    return models_add(&served, "sort=tests/cli/sort.safetensors", &err) != ONET_OK;
}

static int free_models(void **state) {
    models_free(&served);
    return 0;
}

/* ---- Envelope ---------------------------------------------------------------------------------------- */

static onet_status members_of(envelope *e, const char *body, char *room, onet_error *err) {
    strcpy(room, body);
    return envelope_members(e, room, strlen(room), err);
}

static void members(void **state) {
    envelope e;
    onet_error err;
    char room[256];
    assert_int_equal(members_of(&e, " { } ", room, &err), ONET_OK);
    assert_int_equal(e.count, 0);
    assert_int_equal(
        members_of(&e, "{\"a\":[1,{\"}\":\"]\"}],\r\n\"b\" : -1.5e3 , \"c\\\"d\":\"x\\\\\"}", room, &err),
        ONET_OK);
    assert_int_equal(e.count, 3);
    assert_memory_equal(e.value[0].at, "[1,{\"}\":\"]\"}]", e.value[0].length);
    assert_int_equal(e.value[0].length, 13);
    const span *b = envelope_find(&e, "b");
    assert_non_null(b);
    assert_int_equal(b->length, strlen("-1.5e3"));
    assert_null(envelope_find(&e, "c"));
    assert_int_equal(e.value[2].length, strlen("\"x\\\\\""));
}

static void members_refused(void **state) {
    static const struct {
        const char *body, *sentence;
    } bad[] = {
        {"", "byte 1: expected a JSON object"},
        {"[]", "byte 1: expected a JSON object"},
        {"{", "byte 2: expected a key in quotes"},
        {"{a", "byte 2: expected a key in quotes"},
        {"{\"a", "the string's closing quote"},
        {"{\"a\\", "the string's closing quote"},
        {"{\"a\"", "a colon"},
        {"{\"a\":", "byte 6: expected a value"},
        {"{\"a\":,", "byte 6: expected a value"},
        {"{\"a\":[1", "the rest of an array"},
        {"{\"a\":1", "a comma or }"},
        {"{\"a\":1 2}", "a comma or }"},
        {"{\"a\":1,}", "a key in quotes"},
        {"{\"a\":1}}", "byte 8: expected nothing after the object"},
        {"{\"a\":\"\n\"}", "no control character"},
        {"{\"a\":1,\"a\":2}", "`a` is there twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        envelope e;
        onet_error err;
        char room[256];
        assert_int_equal(members_of(&e, bad[i].body, room, &err), ONET_BAD);
        if (!strstr(err.text, bad[i].sentence)) fail_msg("%s: %s", bad[i].body, err.text);
    }
}

static void too_many_members(void **state) {
    for (int count = ENVELOPE_MEMBERS; count <= ENVELOPE_MEMBERS + 1; count++) {
        envelope e;
        onet_error err;
        text t = {0};
        for (int i = 0; i < count; i++) text_printf(&t, "%s\"k%d\":%d", i ? "," : "{", i, i);
        text_put(&t, "}");
        assert_int_equal(envelope_members(&e, t.data, t.length, &err),
                         count > ENVELOPE_MEMBERS ? ONET_BAD : ONET_OK);
        free(t.data);
    }
}

static void elements(void **state) {
    span found[3];
    size_t count;
    onet_error err;
    char good[] = "[ {\"a\": [1]} , 2,\"],\"]", empty[] = "[]", open[] = "[1", many[] = "[1,2,3,4]",
         other[] = "7";
    assert_int_equal(envelope_elements(&(span){good, strlen(good)}, found, 3, &count, "x", &err), ONET_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(found[2].at, "\"],\"", 4);
    assert_int_equal(envelope_elements(&(span){empty, 2}, found, 3, &count, "x", &err), ONET_BAD);
    assert_int_equal(envelope_elements(&(span){open, 2}, found, 3, &count, "x", &err), ONET_BAD);
    assert_int_equal(envelope_elements(&(span){other, 1}, found, 3, &count, "x", &err), ONET_BAD);
    assert_int_equal(envelope_elements(&(span){many, strlen(many)}, found, 3, &count, "x", &err),
                     ONET_FAILED);
}

/* ---- Text -------------------------------------------------------------------------------------------- */

static void strings(void **state) {
    static const char odd[] = "a\"\\<b>&'\n\x7f\xc3\xa9\xff\xe2\x82";
    text t = {0};
    text_string(&t, odd, strlen(odd));
    text_add(&t, "", 1);
    assert_string_equal(
        t.data, "\"a\\\"\\\\\\u003cb\\u003e\\u0026\\u0027\\u000a\\u007f\xc3\xa9\\ufffd\\ufffd\\ufffd\"");
    free(t.data);
}

static void numbers(void **state) {
    text t = {0};
    text_order(&t, (int32_t[]){0, 10, 2147483647}, 3);
    text_floats(&t, (float[]){0.5f, 1}, 2);
    text_double(&t, -1.0 / 3);
    text_double(&t, 0.0 / 0.0);
    char longest[600];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    text_printf(&t, "%s", longest);
    text_add(&t, "", 1);
    assert_int_equal(strncmp(t.data, "[0,10,2147483647][0.5,1]-0.333333333nullxxx", 43), 0);
    assert_int_equal(strlen(t.data), 40 + 599);
    free(t.data);
}

/* ---- Requests ---------------------------------------------------------------------------------------- */

static onet_status parse(order_request *o, const char *body, onet_error *err) {
    char *copy = strdup(body);
    *o = (order_request){0};
    const service shared = {.m = &served, .limits = limits};
    onet_status status = copy ? order_endpoint.parse(&o->r, &shared, copy, strlen(copy), err) : ONET_MEMORY;
    free(copy); /* nothing of it is kept */
    return status;
}

static void orders(void **state) {
    order_request r;
    onet_error err;
    assert_int_equal(parse(&r, "{\"items\": [[3], [1],\n[2]], \"top\": 7, \"steps\": true}", &err), ONET_OK);
    assert_int_equal(r.job.sets->count, 1);
    assert_int_equal(r.job.sets->start[1], 3);
    assert_int_equal(r.job.search.beam, 7);
    assert_int_equal(r.job.search.top, 7);
    assert_true(r.job.search.steps);
    order_request_release(&r.r);
    assert_int_equal(parse(&r, "{\"sets\": [{\"items\": [1]}, {\"items\": [[2], [3]]}]}", &err), ONET_OK);
    assert_int_equal(r.job.sets->count, 2);
    assert_int_equal(r.job.search.beam, 5);
    order_request_release(&r.r);
}

static void orders_refused(void **state) {
    static const struct {
        const char *body;
        onet_status status;
        const char *sentence;
    } bad[] = {
        {"{}", ONET_BAD, "items"},
        {"{\"items\": [[1]], \"model\": \"x\"}", ONET_IO, "no such model; served are: sort"},
        {"{\"items\": [[1]], \"x\": 1}", ONET_BAD, "unknown key `x`"},
        {"{\"items\": [[1]], \"sets\": []}", ONET_BAD, "belongs to one set"},
        {"{\"items\": [[1]], \"beam\": 11}", ONET_BAD, "from 1 to 10"},
        {"{\"items\": [[1]], \"top\": 1.5}", ONET_BAD, "whole number"},
        {"{\"items\": [[1]], \"top\": tru}", ONET_BAD, "whole number"},
        {"{\"items\": [[1]], \"seed\": -1}", ONET_BAD, "from 0"},
        {"{\"items\": [1, 2, 3, 4, 5, 6]}", ONET_FAILED, "at most 5"},
        {"{\"sets\": [{\"items\": [1]}, {\"items\": [1]}, {\"items\": [1]}, {\"items\": [1]}]}", ONET_FAILED,
         "more than the 3"},
        {"{\"beam\": 10, \"sets\": [{\"items\": [1, 2, 3, 4, 5]}, {\"items\": [1, 2, 3, 4, 5]}, {\"items\": "
         "[1]}]}",
         ONET_FAILED, "too much work"},
        {"{\"sets\": [{\"items\": [1]}, {\"items\": [\"a\"]}]}", ONET_BAD, "request:2"},
        {"{\"sets\": [{\"items\": [1]}, {\"items\": [[1, 2]]}]}", ONET_BAD, "request:2"},
        {"{\"sets\": [{\"items\": [1]}} , {\"items\": [1]}]}", ONET_BAD, "expected"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        order_request r;
        onet_error err;
        if (parse(&r, bad[i].body, &err) != bad[i].status || !strstr(err.text, bad[i].sentence))
            fail_msg("%s: %s", bad[i].body, err.text);
        order_request_release(&r.r);
    }
}

static void memory_runs_out(void **state) {
    alloc_works_or_skip();
    for (size_t which = 0;; which++) {
        order_request r;
        onet_error err = {.text = ""};
        alloc_fail(which, 0);
        onet_status status = parse(
            &r, "{\"sets\": [{\"items\": [[3], [1]]}, {\"items\": [2], \"first\": 0}], \"top\": 2}", &err);
        int failed = alloc_failed();
        alloc_fail(SIZE_MAX, 0);
        order_request_release(&r.r);
        if (!failed) {
            assert_int_equal(status, ONET_OK);
            assert_true(which > 5);
            break;
        }
    }
}

/* ---- Batches ----------------------------------------------------------------------------------------- */

enum { JOBS = 12 };

typedef struct waiting {
    order_request o;
    pthread_mutex_t *lock;
    pthread_cond_t *news;
    int *left;
} waiting;

static void job_done(order_job *job) {
    waiting *w = job->context;
    pthread_mutex_lock(w->lock);
    --*w->left;
    pthread_cond_signal(w->news);
    pthread_mutex_unlock(w->lock);
}

static const char *const bodies[JOBS] = {
    "{\"items\": [[3], [1], [2]]}",
    "{\"sets\": [{\"items\": [[0.5], [0.25]]}, {\"items\": [[9]]}], \"steps\": true}",
    "{\"items\": [[3], [1], [2]], \"first\": 0}",
    "{\"sets\": [{\"items\": [1, 2]}, {\"items\": [[3], [1], [2], [7]], \"before\": [[3, 1]], \"last\": 0}]}",
    "{\"items\": [[3], [1], [2]], \"context\": [1]}",
    "{\"items\": [[3], [1], [2]], \"top\": 3}",
    "{\"items\": [[3], [1], [2]], \"top\": 3, \"beam\": 4}",
    "{\"items\": [[3], [1], [2]], \"decode\": \"greedy\"}",
    "{\"items\": [[3], [1], [2]], \"decode\": \"sample\", \"seed\": 4}",
    "{\"items\": [[3], [1], [2]], \"decode\": \"sample\", \"seed\": 4}",
    "{\"items\": [[3], [1], [2], [0.5], [4]]}",
    "{\"items\": [[0.125], [0.0625]]}",
};

/* Runs all jobs at once, or each alone; writes the answers as text. */
static size_t run_jobs(text *answers, int together) {
    batcher *b;
    onet_error err;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t news = PTHREAD_COND_INITIALIZER;
    static waiting w[JOBS];
    assert_int_equal(batcher_new(&b, &served.slot[0], &(batcher_options){.wait = 0.001, .threads = 2}, &err),
                     ONET_OK);
    int left = 0;
    pthread_mutex_lock(&lock);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < JOBS; i++) {
            assert_int_equal(parse(&w[i].o, bodies[i], &err), ONET_OK);
            w[i].lock = &lock, w[i].news = &news, w[i].left = &left;
            w[i].o.job.done = job_done, w[i].o.job.context = &w[i];
            left++;
            batcher_add(b, &w[i].o.job);
            while (left && (!together || i + 1 == JOBS)) pthread_cond_wait(&news, &lock);
            for (int j = together ? 0 : i; j <= i && (!together || i + 1 == JOBS); j++) {
                assert_int_equal(w[j].o.job.status, ONET_OK);
                order_endpoint.answer(&w[j].o.r, answers);
                order_request_release(&w[j].o.r);
            }
        }
    pthread_mutex_unlock(&lock);
    batcher_counts counts = batcher_count(b);
    assert_int_equal(counts.requests, 3 * JOBS);
    assert_int_equal(counts.queued, 0);
    batcher_free(b);
    return counts.batches;
}

static void batches(void **state) {
    text alone = {0}, together = {0};
    assert_int_equal(run_jobs(&alone, 0), 3 * JOBS);
    assert_true(run_jobs(&together, 1) < 3 * JOBS);
    assert_int_equal(alone.length, together.length);
    assert_memory_equal(alone.data, together.data, alone.length);
    free(alone.data);
    free(together.data);
}

/* ---- Models ------------------------------------------------------------------------------------------ */

static void names(void **state) {
    models m = {0};
    onet_error err;
    static const char *const bad[] = {"sort", "=f", "a=", "a b=f", "a\"=f", "caf\xc3\xa9=f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(models_add(&m, bad[i], &err), ONET_USAGE);
        assert_non_null(strstr(err.text, "NAME=FILE"));
    }
    assert_int_equal(models_add(&m, "a=no-such-file", &err), ONET_IO);
    assert_int_equal(models_add(&m, "a=tests/cli/sort.safetensors", &err), ONET_OK);
    assert_int_equal(models_add(&m, "a=tests/cli/sort.safetensors", &err), ONET_USAGE);
    assert_ptr_equal(models_find(&m, "ab", 1), &m.slot[0]);
    assert_null(models_find(&m, "ab", 2));
    bool changed = true;
    assert_int_equal(model_reload(&m.slot[0], &changed, &err), ONET_OK);
    assert_false(changed);
    models_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),  cmocka_unit_test(members_refused), cmocka_unit_test(too_many_members),
        cmocka_unit_test(elements), cmocka_unit_test(strings),         cmocka_unit_test(numbers),
        cmocka_unit_test(orders),   cmocka_unit_test(orders_refused),  cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(batches),  cmocka_unit_test(names),
    };
    return cmocka_run_group_tests_name("serve: requests", tests, load_models, free_models);
}
