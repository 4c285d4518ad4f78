/* A manager that signs an account of the credential `library` in and out, and fetches with a credential. */
#include "../fixture.h"

/* The text in a JSON string without escapes. */
static bp_bytes unquoted(bp_bytes json) {
    if (json.length < 2 || json.data[0] != '"') return text("");
    json.data += 1;
    json.length -= 2;
    return json;
}

enum { FETCH, FETCH_AS, SIGN_IN, SIGN_OUT, EDITION_OF };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fetch")},    /* url -> the status, with the credential `library` */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fetchAs")},  /* url -> the status, as its account `ann`          */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("signIn")},   /* password -> the principal of `ann`               */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("signOut")},  /* null -> 0                                        */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},   /* null -> a number                                 */
};
enum { METHODS = sizeof methods / sizeof *methods };

static const bp_http_1 *http(void) { return get_interface(text(BP_HTTP), 1); }

/* A call and its exchange. */
typedef struct {
    bp_done done;
    void *context;
    uint64_t component;
    uint32_t status;
} errand;

static void end(errand *own, int32_t status, bp_bytes payload) {
    char json[16];
    if (status == BP_OK) {
        snprintf(json, sizeof json, "%u", (unsigned)own->status);
        payload = text(json);
    }
    own->done(own->context, status, payload);
    free(own);
}

static void headed(void *context, const bp_http_head *head) {
    errand *own = context;
    if (head->kind != BP_HTTP_RESPONSE) return;
    own->status = head->status;
    http()->cancel(own->component, head->exchange);
}

/* A response is cancelled once its status is known. */
static void ended(void *context, int32_t status, bp_bytes payload) {
    errand *own = context;
    end(own, own->status != 0 ? BP_OK : status, payload);
}

static void signed_out(void *context, int32_t status, bp_bytes payload) {
    end(context, status, payload);
}

static void create_borrower(void *type, const bp_creation *creation, bp_created done, void *context) {
    if (http()) create_handles(type, creation, done, context);
    else done(context, BP_FAILED, NULL, text("this host has no credentials"));
}

static void call_borrower(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const uint64_t component = ((const handles *)instance)->handle;
    if (method == EDITION_OF) {
        done(context, BP_OK, text(edition()));
        return;
    }
    if (method == SIGN_IN) {    /* the answer is the principal */
        const bp_pair values[] = {{BP_TEXT("reader"), BP_TEXT("ann")}, {BP_TEXT("password"), unquoted(input)}};
        http()->sign_in(component, text("library"), text("ann"), values, 2, frame, done, context);
        return;
    }
    errand *own = malloc(sizeof *own);
    *own = (errand){.done = done, .context = context, .component = component};
    if (method == SIGN_OUT) {
        http()->sign_out(component, text("library"), text("ann"), signed_out, own);
        return;
    }
    const bp_pair named[] = {{BP_TEXT("credential"), BP_TEXT("library")}, {BP_TEXT("account"), BP_TEXT("ann")}};
    const bp_http_request request = {.size = sizeof request, .method = text("GET"), .url = unquoted(input)};
    const bp_http_options options = {.size = sizeof options, .named = named, .named_count = method == FETCH_AS ? 2 : 1};
    const bp_http_exchange exchange = {.size = sizeof exchange, .head = headed, .ended = ended, .context = own};
    http()->open(component, &request, &options, NULL, &exchange, frame);
}

/* The manager forwards all calls. */
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("communicationController"), .contract = BP_TEXT("Borrowing"),
    .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS}};

const bp_component credentials[] = {
    {CLASS(BP_COMMUNICATION_CONTROLLER, "BorrowerCommunication", "Borrowing"), .methods = methods,
     .method_count = METHODS, .create = create_borrower, .release = free, .call = call_borrower},
    {CLASS(BP_MANAGER, "BorrowerManager", "Borrowing"), .methods = methods, .method_count = METHODS, .wires = wires,
     .wire_count = 1, .create = create_handles, .release = free, .call = pass_on},
    {0},
};
