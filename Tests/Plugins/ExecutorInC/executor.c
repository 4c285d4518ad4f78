/*
 * An executor in C: a manager that carries out HTTP/1.1 exchanges for its host, each on a connection and threads of its
 * own. Compiled while the tests run, with every warning.
 */
#include "backplane.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef EDITION
#define EDITION "1.0.0"
#endif

BP_IDENTITY("org.backplane.tests.executor-in-c", EDITION)

enum { CAPABILITIES, EXCHANGE };
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("capabilities")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("exchange")},
};
enum {
    PIECE = 64 << 10,       /* bytes that are read or sent at once */
    LINE = 64 << 10,        /* the longest line of a head          */
    FIELDS = 200            /* the most fields of a head           */
};

static bp_get_interface get_interface;

static const bp_bodies_1 *bodies(void) {
    bp_bytes id = BP_TEXT(BP_BODIES);
    return get_interface(id, 1);
}

static void *allocated(void *memory) {
    if (!memory) abort();
    return memory;
}

static bp_bytes text(const char *literal) {
    bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* ------------------------------------------------------------------------------------------------ exchanges */

typedef struct field {
    char *name, *value;
} field;

typedef struct exchange {
    struct exchange *other;
    uint64_t component, id;
    /* The order. */
    char *method, *url;
    field fields[FIELDS];
    size_t field_count;
    int has_body, has_trailers, reports_interim;
    uint64_t body, response;
    int64_t length;
    /* What follows is guarded by the lock. */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int connection;             /* -1: none                                                    */
    int is_closed, is_over;
    int users;                  /* threads, and the host until it has closed the stream        */
    char *heads;                /* the elements that were not asked for yet, with a comma before each */
    int is_sent;                /* the request, with its body                                  */
    int32_t status;             /* how it ended: BP_OK, or the error that is sent              */
    char *failure;
    bp_done asked, closed;
    void *asker, *closer;
    /* The buffer of the thread that receives. */
    uint8_t received[PIECE];
    size_t start, end;
} exchange;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static exchange *exchanges;

static exchange *find(uint64_t id) {
    pthread_mutex_lock(&lock);
    exchange *found = exchanges;
    while (found && found->id != id) found = found->other;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Ends one use; the last one releases the exchange and tells the host. */
static void leave(exchange *own) {
    pthread_mutex_lock(&own->lock);
    int is_last = --own->users == 0;
    pthread_mutex_unlock(&own->lock);
    if (!is_last) return;
    pthread_mutex_lock(&lock);
    exchange **place = &exchanges;
    while (*place != own) place = &(*place)->other;
    *place = own->other;
    pthread_mutex_unlock(&lock);
    bp_done closed = own->closed;
    void *closer = own->closer;
    for (size_t i = 0; i < own->field_count; i++) {
        free(own->fields[i].name);
        free(own->fields[i].value);
    }
    if (own->connection >= 0) close(own->connection);
    free(own->method);
    free(own->url);
    free(own->heads);
    free(own->failure);
    pthread_mutex_destroy(&own->lock);
    pthread_cond_destroy(&own->answered);
    free(own);
    closed(closer, BP_OK, text(""));
}

/* Answers the request for elements, if there is one and there is an answer. */
static void tell(exchange *own) {
    pthread_mutex_lock(&own->lock);
    bp_done asked = own->asked;
    void *asker = own->asker;
    char *heads = own->heads;
    if (!asked || (!heads && !own->is_over)) {
        pthread_mutex_unlock(&own->lock);
        return;
    }
    own->asked = NULL;
    own->heads = NULL;
    int32_t status = heads ? BP_OK : own->status == BP_OK ? BP_END : own->status;
    pthread_mutex_unlock(&own->lock);
    if (!heads) {
        asked(asker, status, text(own->failure ? own->failure : ""));
        return;
    }
    heads[0] = '[';
    asked(asker, BP_OK, text(heads));
    free(heads);
}

/* Ends the exchange with a status, unless it has ended. */
static void end_with(exchange *own, int32_t status, bp_bytes payload) {
    pthread_mutex_lock(&own->lock);
    if (!own->is_over) {
        own->status = status;
        own->failure = allocated(calloc(1, payload.length + 1));
        if (payload.length) memcpy(own->failure, payload.data, payload.length);
        own->is_over = 1;
    }
    if (own->connection >= 0) shutdown(own->connection, SHUT_RDWR);
    pthread_mutex_unlock(&own->lock);
    tell(own);
}

static void fail(exchange *own, const char *reason) {
    char error[300];
    snprintf(error, sizeof error, "{\"code\": \"network.failed\", \"message\": \"%s\"}", reason);
    end_with(own, BP_ERROR, text(error));
}

/* ------------------------------------------------------------------------------------ connections that are kept */

static struct {
    char *host;
    int connection;
} idle[16];

/* Returns a connection to a host that nothing has arrived on since it was used; -1 if there is none. */
static int take_idle(const char *host) {
    int found = -1;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof idle / sizeof *idle && found < 0; i++) {
        char byte;
        if (!idle[i].host || strcmp(idle[i].host, host) != 0) continue;
        found = idle[i].connection;
        free(idle[i].host);
        idle[i].host = NULL;
        if (recv(found, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) continue;
        close(found);
        found = -1;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Forgets a place; with the lock. */
static void forget_idle(size_t place) {
    if (!idle[place].host) return;
    close(idle[place].connection);
    free(idle[place].host);
    idle[place].host = NULL;
}

/* Keeps the connection of an exchange whose response was received whole, in the place of the oldest. */
static void keep_idle(exchange *own, const char *host) {
    static size_t oldest;
    pthread_mutex_lock(&own->lock);
    int connection = own->connection;
    own->connection = -1;
    pthread_mutex_unlock(&own->lock);
    pthread_mutex_lock(&lock);
    forget_idle(oldest);
    idle[oldest].host = allocated(strdup(host));
    idle[oldest].connection = connection;
    oldest = (oldest + 1) % (sizeof idle / sizeof *idle);
    pthread_mutex_unlock(&lock);
}

/* --------------------------------------------------------------------------------------- pieces of the bodies */

/* The answer that a thread waits for. */
typedef struct answer {
    exchange *own;
    int is_there;
    int32_t status;
    uint8_t *bytes;
    size_t length;
    char *trailers;         /* as they are sent */
} answer;

static void wait_for(answer *waiting) {
    pthread_mutex_lock(&waiting->own->lock);
    while (!waiting->is_there) pthread_cond_wait(&waiting->own->answered, &waiting->own->lock);
    pthread_mutex_unlock(&waiting->own->lock);
}

static void received_piece(void *context, int32_t status, bp_bytes chunk, const bp_pair *trailers, size_t count) {
    answer *waiting = context;
    exchange *own = waiting->own;
    size_t size = 1;
    for (size_t i = 0; i < count; i++) size += trailers[i].name.length + trailers[i].value.length + 4;
    char *lines = allocated(calloc(1, size)), *end = lines;
    for (size_t i = 0; i < count; i++) {
        memcpy(end, trailers[i].name.data, trailers[i].name.length);
        end += trailers[i].name.length;
        memcpy(end, ": ", 2);
        end += 2;
        if (trailers[i].value.length) memcpy(end, trailers[i].value.data, trailers[i].value.length);
        end += trailers[i].value.length;
        memcpy(end, "\r\n", 2);
        end += 2;
    }
    pthread_mutex_lock(&own->lock);
    waiting->bytes = allocated(malloc(chunk.length + 1));
    if (chunk.length) memcpy(waiting->bytes, chunk.data, chunk.length);
    waiting->length = chunk.length;
    waiting->trailers = lines;
    waiting->status = status;
    waiting->is_there = 1;
    pthread_cond_broadcast(&own->answered);
    pthread_mutex_unlock(&own->lock);
}

static void taken(void *context, int32_t status, bp_bytes payload) {
    answer *waiting = context;
    exchange *own = waiting->own;
    (void)payload;
    pthread_mutex_lock(&own->lock);
    waiting->status = status;
    waiting->is_there = 1;
    pthread_cond_broadcast(&own->answered);
    pthread_mutex_unlock(&own->lock);
}

/* Hands over a piece of the response's body, and waits until it is taken. Returns whether somebody wants more. */
static int push(exchange *own, const uint8_t *bytes, size_t length, const bp_pair *trailers, size_t count) {
    answer waiting = {.own = own};
    bp_bytes piece = {bytes, length};
    bodies()->push(own->component, own->response, piece, trailers, count, taken, &waiting);
    wait_for(&waiting);
    return waiting.status == BP_OK;
}

static int send_all(exchange *own, const void *bytes, size_t length) {
    const char *rest = bytes;
    while (length > 0) {
        ssize_t count = send(own->connection, rest, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        rest += count;
        length -= (size_t)count;
    }
    return 1;
}

/* Sends the body of the request as the server takes it. A server that no longer reads may have answered, so that only
 * a body that cannot be read fails the exchange. */
static void *send_body(void *context) {
    exchange *own = context;
    int is_chunked = own->length < 0 || own->has_trailers;
    for (int goes_on = 1; goes_on;) {
        answer waiting = {.own = own};
        bodies()->pull(own->component, own->body, PIECE, received_piece, &waiting);
        wait_for(&waiting);
        if (waiting.status != BP_OK) {
            bp_bytes payload = {waiting.bytes, waiting.length};
            end_with(own, waiting.status, payload);
            goes_on = 0;
        } else if (waiting.length > 0) {
            char size[32];
            snprintf(size, sizeof size, "%zx\r\n", waiting.length);
            goes_on = (!is_chunked || send_all(own, size, strlen(size))) && send_all(own, waiting.bytes, waiting.length)
                && (!is_chunked || send_all(own, "\r\n", 2));
        } else {
            goes_on = 0;
            int is_sent = !is_chunked
                || (send_all(own, "0\r\n", 3) && send_all(own, waiting.trailers, strlen(waiting.trailers))
                    && send_all(own, "\r\n", 2));
            pthread_mutex_lock(&own->lock);
            own->is_sent = is_sent;
            pthread_mutex_unlock(&own->lock);
        }
        free(waiting.bytes);
        free(waiting.trailers);
    }
    leave(own);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- the response */

/* Receives some more; 0 at the end. */
static int fill(exchange *own) {
    ssize_t count;
    do count = recv(own->connection, own->received, sizeof own->received, 0);
    while (count < 0 && errno == EINTR);
    own->start = 0;
    own->end = count > 0 ? (size_t)count : 0;
    return count > 0;
}

/* Reads a line without its end into `line`, which has room for LINE bytes. */
static int read_line(exchange *own, char *line) {
    for (size_t length = 0; length < LINE - 1;) {
        if (own->start == own->end && !fill(own)) return 0;
        char byte = (char)own->received[own->start++];
        if (byte == '\n') {
            if (length > 0 && line[length - 1] == '\r') length--;
            line[length] = 0;
            return 1;
        }
        if (byte == 0) return 0;
        line[length++] = byte;
    }
    return 0;
}

/* The fields of a response, in memory of their own. */
typedef struct head {
    long status;
    char version[16];
    field fields[FIELDS];
    size_t count;
} head;

static void clear(head *own) {
    for (size_t i = 0; i < own->count; i++) {
        free(own->fields[i].name);
        free(own->fields[i].value);
    }
    own->count = 0;
}

static const char *value(const head *own, const char *name) {
    for (size_t i = 0; i < own->count; i++)
        if (strcasecmp(own->fields[i].name, name) == 0) return own->fields[i].value;
    return NULL;
}

static int read_fields(exchange *own, head *into, char *line) {
    while (read_line(own, line)) {
        if (line[0] == 0) return 1;
        char *colon = strchr(line, ':');
        if (!colon || colon == line || line[0] == ' ' || line[0] == '\t' || into->count == FIELDS) return 0;
        *colon++ = 0;
        while (*colon == ' ' || *colon == '\t') colon++;
        size_t length = strlen(colon);
        while (length > 0 && (colon[length - 1] == ' ' || colon[length - 1] == '\t')) colon[--length] = 0;
        into->fields[into->count].name = allocated(strdup(line));
        into->fields[into->count++].value = allocated(strdup(colon));
    }
    return 0;
}

static int read_head(exchange *own, head *into, char *line) {
    char *end;
    if (!read_line(own, line)) return 0;
    if (strlen(line) < 12 || strncmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ') return 0;
    memcpy(into->version, line, 8);
    into->version[8] = 0;
    into->status = strtol(line + 9, &end, 10);
    if (end != line + 12 || (*end != 0 && *end != ' ') || into->status < 100 || into->status > 599) return 0;
    return read_fields(own, into, line);
}

/* Appends a text as JSON; bytes beyond ASCII are taken for Latin-1. */
static char *quoted(char *end, const char *bytes) {
    *end++ = '"';
    for (; *bytes; bytes++) {
        unsigned char byte = (unsigned char)*bytes;
        if (byte < 0x20 || byte > 0x7E || byte == '"' || byte == '\\')
            end += sprintf(end, "\\u%04x", byte);
        else
            *end++ = (char)byte;
    }
    *end++ = '"';
    return end;
}

/* Adds a head to the elements of the stream. */
static void give(exchange *own, const head *given) {
    size_t size = 100;
    for (size_t i = 0; i < given->count; i++)
        size += 6 * (strlen(given->fields[i].name) + strlen(given->fields[i].value)) + 10;
    pthread_mutex_lock(&own->lock);
    size_t before = own->heads ? strlen(own->heads) : 0;
    if (before > 0) own->heads[before - 1] = 0, before--;
    own->heads = allocated(realloc(own->heads, before + size));
    char *end = own->heads + before;
    end += sprintf(end, ",{\"status\": %ld, \"version\": \"%s\", \"headers\": [", given->status, given->version);
    for (size_t i = 0; i < given->count; i++) {
        end += sprintf(end, i ? ", [" : "[");
        end = quoted(end, given->fields[i].name);
        end += sprintf(end, ", ");
        end = quoted(end, given->fields[i].value);
        end += sprintf(end, "]");
    }
    sprintf(end, "]}]");
    pthread_mutex_unlock(&own->lock);
    tell(own);
}

/* Passes on bytes of the body; `count` < 0: up to the end of the connection. Returns NULL, or why it is not whole. */
static const char *pass_on(exchange *own, long long count) {
    while (count != 0) {
        if (own->start == own->end && !fill(own)) {
            if (count < 0 && !own->is_closed) return NULL;
            return "the connection was closed before the response was complete";
        }
        size_t length = own->end - own->start;
        if (count > 0 && (long long)length > count) length = (size_t)count;
        if (!push(own, own->received + own->start, length, NULL, 0)) return "nobody reads the response";
        own->start += length;
        if (count > 0) count -= (long long)length;
    }
    return NULL;
}

static const char *pass_chunks_on(exchange *own, head *trailers, char *line) {
    static const char *cut = "the connection was closed before the response was complete";
    while (read_line(own, line)) {
        char *end;
        long long count = strtoll(line, &end, 16);
        if (end == line || count < 0 || (*end != 0 && *end != ';' && *end != ' ')) return "a chunk has no size";
        if (count == 0) return read_fields(own, trailers, line) ? NULL : cut;
        const char *error = pass_on(own, count);
        if (error) return error;
        if (!read_line(own, line)) return cut;
        if (line[0] != 0) return "a chunk is longer than its size";
    }
    return cut;
}

static const char *pass_body_on(exchange *own, const head *given, head *trailers, char *line) {
    const char *coding = value(given, "Transfer-Encoding"), *length = value(given, "Content-Length");
    if (strcmp(own->method, "HEAD") == 0 || given->status == 204 || given->status == 304) return NULL;
    if (coding) return pass_chunks_on(own, trailers, line);
    return pass_on(own, length ? strtoll(length, NULL, 10) : -1);
}

/* Whether the next exchange with the host can use the connection. */
static int is_reusable(exchange *own, const head *given) {
    const char *connection = value(given, "Connection");
    int has_end = strcmp(own->method, "HEAD") == 0 || given->status == 204 || given->status == 304
        || value(given, "Transfer-Encoding") || value(given, "Content-Length");
    pthread_mutex_lock(&own->lock);
    int is_sent = own->is_sent && !own->is_over;
    pthread_mutex_unlock(&own->lock);
    return is_sent && has_end && own->start == own->end && strcmp(given->version, "HTTP/1.1") == 0
        && (!connection || strcasecmp(connection, "close") != 0);
}

/* Reads the response, and ends the exchange. */
static void receive(exchange *own, const char *host) {
    head *response = allocated(calloc(2, sizeof *response)), *trailers = response + 1;
    char *line = allocated(malloc(LINE));
    const char *error = NULL;
    do {
        clear(response);
        if (!read_head(own, response, line)) error = "the response is not HTTP, or breaks off in its head";
        const char *length = error ? NULL : value(response, "Content-Length");
        if (length && (!*length || length[strspn(length, "0123456789")])) error = "Content-Length is not a number";
        if (!error && (response->status >= 200 || own->reports_interim)) give(own, response);
    } while (!error && response->status < 200);
    if (!error) error = pass_body_on(own, response, trailers, line);
    if (!error) {
        bp_pair pairs[FIELDS];
        for (size_t i = 0; i < trailers->count; i++) {
            pairs[i].name = text(trailers->fields[i].name);
            pairs[i].value = text(trailers->fields[i].value);
        }
        if (is_reusable(own, response)) keep_idle(own, host);
        push(own, NULL, 0, pairs, trailers->count);
        end_with(own, BP_OK, text(""));
    } else {
        fail(own, error);
    }
    clear(response);
    clear(trailers);
    free(response);
    free(line);
}

/* ----------------------------------------------------------------------------------------------- the request */

/* Connects to the host of the URL, and finds the path. Returns NULL, or why there is no connection. */
static const char *reach(exchange *own, char **host, const char **path) {
    const char *begin = strstr(own->url, "://");        /* `http`, or the name that the manifest gives it */
    if (!begin || strncmp(own->url, "https:", 6) == 0) return "this executor has no TLS";
    begin += 3;
    size_t length = strcspn(begin, "/?#");
    *path = begin + length;
    *host = allocated(strndup(begin, length));
    int kept = take_idle(*host);
    pthread_mutex_lock(&own->lock);
    own->connection = kept;
    int is_over = own->is_over;
    pthread_mutex_unlock(&own->lock);
    if (kept >= 0) return is_over ? "the exchange was ended" : NULL;
    char *name = allocated(strdup(*host)), *colon = strrchr(name, ':');
    if (colon) *colon = 0;
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int status = getaddrinfo(name, colon ? colon + 1 : "80", &wanted, &found);
    free(name);
    if (status != 0) return "the host name cannot be resolved";
    int is_connected = 0;
    for (struct addrinfo *each = found; each && !is_connected; each = each->ai_next) {
        int connection = socket(each->ai_family, each->ai_socktype, each->ai_protocol);
        if (connection < 0) continue;
        pthread_mutex_lock(&own->lock);
        if (own->connection >= 0) close(own->connection);
        own->connection = connection;
        int is_closed = own->is_closed;
        pthread_mutex_unlock(&own->lock);
        is_connected = !is_closed && connect(connection, each->ai_addr, each->ai_addrlen) == 0;
    }
    freeaddrinfo(found);
    return is_connected ? NULL : "the connection was refused";
}

static int send_head(exchange *own, const char *host, const char *path) {
    size_t size = strlen(own->method) + strlen(path) + strlen(host) + 200;
    int has_host = 0;
    for (size_t i = 0; i < own->field_count; i++) {
        size += strlen(own->fields[i].name) + strlen(own->fields[i].value) + 4;
        has_host |= strcasecmp(own->fields[i].name, "Host") == 0;
    }
    char *lines = allocated(malloc(size)), *end = lines;
    end += sprintf(end, "%s %s%s HTTP/1.1\r\n", own->method, path[0] == '/' ? "" : "/", path);
    if (!has_host) end += sprintf(end, "Host: %s\r\n", host);
    for (size_t i = 0; i < own->field_count; i++)
        end += sprintf(end, "%s: %s\r\n", own->fields[i].name, own->fields[i].value);
    if (own->has_body && (own->length < 0 || own->has_trailers))
        end += sprintf(end, "Transfer-Encoding: chunked\r\n");
    else if (own->has_body || strcmp(own->method, "POST") == 0 || strcmp(own->method, "PUT") == 0)
        end += sprintf(end, "Content-Length: %lld\r\n", own->has_body ? (long long)own->length : 0);
    end += sprintf(end, "\r\n");
    int is_sent = send_all(own, lines, (size_t)(end - lines));
    free(lines);
    return is_sent;
}

static void *carry_out(void *context) {
    exchange *own = context;
    char *host = NULL;
    const char *path = NULL, *error = reach(own, &host, &path);
    if (!error && !send_head(own, host, path)) error = "the connection was closed before the request was sent";
    own->is_sent = !own->has_body;
    if (!error && own->has_body) {
        pthread_t sender;
        pthread_mutex_lock(&own->lock);
        own->users++;
        pthread_mutex_unlock(&own->lock);
        if (pthread_create(&sender, NULL, send_body, own) == 0) {
            pthread_detach(sender);
        } else {
            error = "there is no thread to send the body";
            leave(own);
        }
    }
    if (error) fail(own, error);
    else receive(own, host);
    free(host);
    leave(own);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- the order */

/* A reader of JSON that trusts its host. */
typedef struct reader {
    const uint8_t *at, *end;
} reader;

static void skip_space(reader *json) {
    while (json->at < json->end && strchr(" \t\r\n,:", *json->at)) json->at++;
}

static int begins(reader *json, char letter) {
    skip_space(json);
    return json->at < json->end && *json->at == (uint8_t)letter ? (json->at++, 1) : 0;
}

/* Reads a string; NULL if there is none. */
static char *read_string(reader *json) {
    if (!begins(json, '"')) return NULL;
    char *copy = allocated(malloc((size_t)(json->end - json->at) + 1)), *end = copy;
    while (json->at < json->end && *json->at != '"') {
        if (*json->at != '\\') {
            *end++ = (char)*json->at++;
            continue;
        }
        static const char escapes[] = "b\bf\fn\nr\rt\t";
        uint8_t letter = json->at[1];
        const char *escape = letter ? strchr(escapes, letter) : NULL;
        json->at += 2;
        if (letter != 'u') {
            *end++ = escape ? escape[1] : (char)letter;
            continue;
        }
        char digits[5] = {(char)json->at[0], (char)json->at[1], (char)json->at[2], (char)json->at[3], 0};
        unsigned long code = strtoul(digits, NULL, 16);
        json->at += 4;
        if (code < 0x80) *end++ = (char)code;
        else if (code < 0x800) *end++ = (char)(0xC0 | code >> 6), *end++ = (char)(0x80 | (code & 0x3F));
        else *end++ = '?';
    }
    json->at++;
    *end = 0;
    return copy;
}

/* Reads a number, `true`, `false` or `null`, which is `otherwise`. */
static int64_t read_value(reader *json, int64_t otherwise) {
    skip_space(json);
    char word[32] = "";
    for (size_t i = 0; i < sizeof word - 1 && json->at < json->end && !strchr(" \t\r\n,}", *json->at); i++)
        word[i] = (char)*json->at++;
    if (strcmp(word, "null") == 0) return otherwise;
    if (strcmp(word, "true") == 0) return 1;
    return strtoll(word, NULL, 10);
}

static void read_order(exchange *own, bp_bytes input) {
    reader json = {input.data, input.data + input.length};
    own->length = -1;
    if (!begins(&json, '{')) return;
    for (char *key; (key = read_string(&json)); free(key)) {
        if (strcmp(key, "method") == 0) {
            own->method = read_string(&json);
        } else if (strcmp(key, "url") == 0) {
            own->url = read_string(&json);
        } else if (strcmp(key, "headers") == 0) {
            begins(&json, '[');
            while (begins(&json, '[') && own->field_count < FIELDS) {
                own->fields[own->field_count].name = read_string(&json);
                own->fields[own->field_count++].value = read_string(&json);
                begins(&json, ']');
            }
            begins(&json, ']');
        } else {
            int64_t number = read_value(&json, -1);
            if (strcmp(key, "body") == 0) own->has_body = number > 0, own->body = (uint64_t)number;
            else if (strcmp(key, "length") == 0) own->length = number;
            else if (strcmp(key, "response") == 0) own->response = (uint64_t)number;
            else if (strcmp(key, "hasTrailers") == 0) own->has_trailers = number > 0;
            else if (strcmp(key, "reportsInterim") == 0) own->reports_interim = number > 0;
        }
    }
}

static void open_exchange(void *self, uint32_t method, bp_bytes input, const bp_call *call, uint64_t id) {
    (void)method, (void)call;
    exchange *new = allocated(calloc(1, sizeof *new));
    new->component = *(uint64_t *)self;
    new->id = id;
    new->connection = -1;
    new->users = 2;
    pthread_mutex_init(&new->lock, NULL);
    pthread_cond_init(&new->answered, NULL);
    read_order(new, input);
    pthread_mutex_lock(&lock);
    new->other = exchanges;
    exchanges = new;
    pthread_mutex_unlock(&lock);
    pthread_t thread;
    if (new->method && new->url && pthread_create(&thread, NULL, carry_out, new) == 0) {
        pthread_detach(thread);
    } else {
        fail(new, "the order cannot be read, or there is no thread for it");
        leave(new);
    }
}

static void next_heads(void *self, uint64_t id, uint32_t max, bp_done done, void *context) {
    (void)self, (void)max;
    exchange *own = find(id);
    pthread_mutex_lock(&own->lock);
    own->asked = done;
    own->asker = context;
    pthread_mutex_unlock(&own->lock);
    tell(own);
}

static void close_exchange(void *self, uint64_t id, bp_done done, void *context) {
    (void)self;
    exchange *own = find(id);
    pthread_mutex_lock(&own->lock);
    own->closed = done;
    own->closer = context;
    own->is_closed = 1;
    pthread_mutex_unlock(&own->lock);
    end_with(own, BP_CANCELLED, text("the exchange was ended"));
    leave(own);
}

/* ------------------------------------------------------------------------------------------------ the plugin */

static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)self, (void)method, (void)input, (void)frame, (void)id;
    char number[16];
    snprintf(
        number, sizeof number, "%d",
        BP_EXECUTOR_STREAMED_UPLOADS | BP_EXECUTOR_REQUEST_TRAILERS | BP_EXECUTOR_RESPONSE_TRAILERS
            | BP_EXECUTOR_INTERIM_RESPONSES | BP_EXECUTOR_BACK_PRESSURE | BP_EXECUTOR_SEPARATE_FIELDS
            | BP_EXECUTOR_CONTENT_IN_GET | BP_EXECUTOR_TRUNCATED_HEADS | BP_EXECUTOR_HARMLESS_TRAILERS);
    done(context, BP_OK, text(number));
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    (void)type;
    uint64_t *handle = allocated(malloc(sizeof *handle));
    *handle = creation->handle;
    done(context, BP_OK, handle, text(""));
}

static void release(void *instance) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) forget_idle(i);
    pthread_mutex_unlock(&lock);
    free(instance);
}

static bp_component components[] = {
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("ExecutorInC"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("HTTPExecuting"), .contract_version = BP_TEXT("1.0.0"), .methods = methods,
     .method_count = sizeof methods / sizeof *methods, .create = create, .release = release, .call = call,
     .open = open_exchange, .next = next_heads, .close = close_exchange},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    bp_answer own = {
        .size = sizeof own, .abi = BP_ABI_MAX, .id = BP_TEXT("org.backplane.tests.executor-in-c"), .version = BP_TEXT(EDITION),
        .components = components, .component_count = 1, .self_check = bp_check_self()};
    get_interface = offer->get_interface;
    *answer = own;
    return BP_OK;
}
