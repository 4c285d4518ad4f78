// A complete plugin in C++, which uses exceptions. No exception crosses the boundary:
// each function that the host calls converts exceptions to error answers.
#include "backplane.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#define ID "org.backplane.tests.ledger"

BP_IDENTITY(ID, "1.0.0")

namespace {

bp_get_interface get_interface;

// ---------------------------------------------------------------------------------------------------- text

bp_bytes borrowed(const std::string &text) {
    return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// The version in this copy's identity, which tests overwrite.
bp_bytes version() {
    static const bp_identity *volatile identity = &bp_identity_record;
    return {reinterpret_cast<const uint8_t *>(identity->version), std::strlen(identity->version)};
}

bp_bytes edition() {
    const auto whole = version();
    return {whole.data, static_cast<size_t>(std::find(whole.data, whole.data + whole.length, '.') - whole.data)};
}

std::string copied(bp_bytes bytes) {
    return bytes.length ? std::string(reinterpret_cast<const char *>(bytes.data), bytes.length) : std::string();
}

// -------------------------------------------------------------------------------------------------- errors

struct InvalidInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Overdrawn : std::exception {
    explicit Overdrawn(int64_t missing) : missing(missing) {}
    int64_t missing;
};

/// The answer to a call, which is given once: a result or an error.
struct Reply {
    bp_done done;
    void *context;

    void operator()(int32_t status, const std::string &payload) const { done(context, status, borrowed(payload)); }
};

/// Runs `body`, and ends the call with an error if `body` throws.
template <typename Body> void guarded(const Reply &reply, Body body) noexcept {
    try {
        body();
    } catch (const Overdrawn &error) {
        const auto missing = std::to_string(error.missing);
        reply(BP_ERROR, R"({"code": "component.failed", "message": "the ledger lacks )" + missing
                            + R"(", "failure": {"code": "ledger.overdrawn", "details": {"missing": ")" + missing + R"("},
                               "json": "{\"missing\": )" + missing + R"(}"}})");
    } catch (const InvalidInput &error) {
        reply(BP_INVALID_INPUT, error.what());
    } catch (const std::exception &error) {
        reply(BP_FAILED, error.what());
    } catch (...) {
        reply(BP_FAILED, "something was thrown that is no std::exception");
    }
}

// ------------------------------------------------------------------------------------------------------- creation

/// Returns the wire with a label, or 0 if it is not connected.
uint64_t wire_to(const std::string &label, const bp_creation &creation) {
    auto place = reinterpret_cast<const char *>(creation.wires);
    for (size_t i = 0; i < creation.wire_count; i++, place += creation.wires->size) {
        const auto connection = reinterpret_cast<const bp_connection *>(place);
        if (copied(connection->label) == label) return connection->wire;
    }
    return 0;
}

template <typename Table> const Table &service(const char *id) {
    const auto table = static_cast<const Table *>(get_interface({reinterpret_cast<const uint8_t *>(id), std::strlen(id)}, 1));
    if (!table) throw std::runtime_error(std::string("this host has no ") + id);
    return *table;
}

// ------------------------------------------------------------------------------------------------------ inputs

int64_t whole(const std::string &digits, const char *method) {
    try {
        size_t end = 0;
        const auto number = digits.size() < 16 ? std::stoll(digits, &end) : 0;
        if (end == digits.size() && end != 0) return number;
    } catch (const std::logic_error &) {}
    throw InvalidInput(std::string("`") + method + "` takes a whole number");
}

void nothing(bp_bytes input, const char *method) {
    if (copied(input) != "null") throw InvalidInput(std::string("`") + method + "` takes null");
}

// ------------------------------------------------------------------------------------- calls of collaborators

/// The forwarded calls, by which cancellations are forwarded. Shared with the askers, whose answers may come last.
class Errands {
public:
    /// Adds a call. Do this before calling the collaborator, which may answer immediately.
    void begin(uint64_t id) {
        const std::lock_guard<std::mutex> guard(lock);
        passed_on[id] = {0, false};
    }

    /// - Returns: `true` if the call has been cancelled in the meantime.
    bool know(uint64_t id, uint64_t call) {
        const std::lock_guard<std::mutex> guard(lock);
        const auto found = passed_on.find(id);
        if (found == passed_on.end()) return false;
        found->second.call = call;
        return found->second.is_cancelled;
    }

    /// - Returns: The forwarded call to cancel, or 0 if there is none or it is not known yet.
    uint64_t cancel(uint64_t id) {
        const std::lock_guard<std::mutex> guard(lock);
        const auto found = passed_on.find(id);
        if (found == passed_on.end()) return 0;
        found->second.is_cancelled = true;
        return found->second.call;
    }

    void end(uint64_t id) {
        const std::lock_guard<std::mutex> guard(lock);
        passed_on.erase(id);
    }

private:
    struct PassedCall {
        uint64_t call;
        bool is_cancelled;
    };
    std::mutex lock;
    std::map<uint64_t, PassedCall> passed_on;
};

/// A call that waits for a collaborator's answer.
struct Asker {
    std::shared_ptr<Errands> errands;
    uint64_t id;
    Reply reply;
};

// ------------------------------------------------------------------------------------------------ the ledger

class Ledger {
public:
    const uint64_t trials;

    explicit Ledger(const bp_creation &creation)
        : trials(wire_to("trials", creation)), handle(creation.handle) {
        review(creation.configuration);
    }

    /// Returns the unknown keys of a configuration, as JSON.
    static std::string review(bp_bytes configuration) {
        const auto json = copied(configuration);
        if (json.find("sealed") != std::string::npos) throw std::runtime_error("the ledger is sealed");
        return json.find("colour") != std::string::npos ? R"(["/colour"])" : "[]";
    }

    /// Logs a line without allocating memory, so that it cannot throw.
    void say(const char *line) const noexcept {
        const auto log = static_cast<const bp_log_1 *>(get_interface(BP_TEXT(BP_LOG), 1));
        const bp_pair said = {BP_TEXT("edition"), edition()};
        if (log && log->is_enabled(handle, BP_LOG_INFO)) log->write(handle, BP_LOG_INFO, {reinterpret_cast<const uint8_t *>(line), std::strlen(line)}, &said, 1);
    }

    int64_t add(bp_bytes input) {
        const auto number = whole(copied(input), "add");
        const std::lock_guard<std::mutex> guard(lock);
        if (sum + number < 0) throw Overdrawn(-(sum + number));
        entries++;
        return sum += number;
    }

    int64_t total() const {
        const std::lock_guard<std::mutex> guard(lock);
        return sum;
    }

    void health() const {
        if (total() > 1000) throw std::runtime_error("the ledger is full");
    }

    void wait(uint64_t id, Reply reply) {
        {
            const std::lock_guard<std::mutex> guard(lock);
            waiters.emplace(id, reply);
        }
        say("waiting");
    }

    void cancel(uint64_t id) {
        if (const auto call = errands->cancel(id)) service<bp_calls_1>(BP_CALLS).cancel(handle, call);
        std::unique_lock<std::mutex> guard(lock);
        const auto found = waiters.find(id);
        if (found == waiters.end()) return;
        const auto reply = found->second;
        waiters.erase(found);
        guard.unlock();
        say("cancelled");
        guarded(reply, [&] { reply(BP_CANCELLED, "the wait is over"); });
    }

    void ask(uint64_t wire, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, Reply reply) const {
        const auto &calls = service<bp_calls_1>(BP_CALLS);
        auto asker = std::make_unique<Asker>(Asker{errands, id, reply});
        errands->begin(id);
        const auto call = calls.call(handle, wire, method, input, frame, answered, asker.release());
        if (errands->know(id, call)) calls.cancel(handle, call);
    }

    std::string exported(uint32_t version) const {
        const std::lock_guard<std::mutex> guard(lock);
        return std::to_string(sum) + (version == 1 ? "" : " " + std::to_string(entries));
    }

    void import(uint32_t version, const std::string &state) {
        const auto blank = state.find(' ');
        if ((blank == std::string::npos) != (version == 1)) throw std::runtime_error("this is no ledger's state");
        const auto read = std::make_pair(whole(state.substr(0, blank), "import"), version == 1 ? 0 : whole(state.substr(blank + 1), "import"));
        const std::lock_guard<std::mutex> guard(lock);
        sum = read.first;
        entries = static_cast<uint32_t>(read.second);
    }

private:
    mutable std::mutex lock;
    const uint64_t handle;
    int64_t sum = 0;
    uint32_t entries = 0;
    std::map<uint64_t, Reply> waiters;
    const std::shared_ptr<Errands> errands = std::make_shared<Errands>();

    /// Answers the call for which a collaborator was called.
    static void answered(void *context, int32_t status, bp_bytes payload) {
        const std::unique_ptr<Asker> asker(static_cast<Asker *>(context));
        asker->errands->end(asker->id);
        asker->reply.done(asker->reply.context, status, payload);
    }
};

Ledger &ledger(void *instance) { return *static_cast<Ledger *>(instance); }

// -------------------------------------------------------------------------------- functions for the host

void create(void *, const bp_creation *creation, bp_created done, void *context) {
    std::unique_ptr<Ledger> made;
    try {
        made = std::make_unique<Ledger>(*creation);
    } catch (const std::exception &error) {
        done(context, BP_FAILED, nullptr, borrowed(error.what()));
        return;
    } catch (...) {
        done(context, BP_FAILED, nullptr, BP_TEXT("something was thrown that is no std::exception"));
        return;
    }
    done(context, BP_OK, made.release(), BP_TEXT(""));
}

void review(void *, bp_bytes configuration, bp_done done, void *context) {
    const Reply reply{done, context};
    guarded(reply, [&] { reply(BP_OK, Ledger::review(configuration)); });
}

void step(void *instance, const char *name, bp_done done, void *context) {
    const Reply reply{done, context};
    guarded(reply, [&] {
        ledger(instance).say(name);
        reply(BP_OK, "");
    });
}

void activate(void *instance, bp_done done, void *context) { step(instance, "activate", done, context); }
void suspend(void *instance, bp_done done, void *context) { step(instance, "suspend", done, context); }
void resume(void *instance, bp_done done, void *context) { step(instance, "resume", done, context); }
void stop(void *instance, bp_done done, void *context) { step(instance, "stop", done, context); }

void health(void *instance, bp_done done, void *context) {
    const Reply reply{done, context};
    guarded(reply, [&] {
        ledger(instance).health();
        reply(BP_OK, "");
    });
}

void release(void *instance) { delete &ledger(instance); }

enum { ADD, TOTAL, EDITION_OF, WAIT, PATH, FAIL };

void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const Reply reply{done, context};
    guarded(reply, [&] {
        auto &self = ledger(instance);
        switch (method) {
        case ADD: reply(BP_OK, std::to_string(self.add(input))); return;
        case TOTAL: nothing(input, "total"); reply(BP_OK, std::to_string(self.total())); return;
        case EDITION_OF: nothing(input, "edition"); reply(BP_OK, copied(edition())); return;
        case WAIT: nothing(input, "wait"); self.wait(id, reply); return;
        case PATH: self.ask(self.trials, 0, input, frame, id, reply); return;
        case FAIL: self.ask(self.trials, 1, input, frame, id, reply); return;
        default: reply(BP_UNIMPLEMENTED, "a ledger has no such method");
        }
    });
}

void cancel(void *instance, uint64_t id) noexcept {
    // If the cancellation cannot be forwarded, the call ends by itself.
    try {
        ledger(instance).cancel(id);
    } catch (...) {}
}

void export_state(void *instance, uint32_t version, bp_done done, void *context) {
    const Reply reply{done, context};
    guarded(reply, [&] { reply(BP_OK, ledger(instance).exported(version)); });
}

void import_state(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    const Reply reply{done, context};
    guarded(reply, [&] {
        try {
            ledger(instance).import(version, copied(state));
        } catch (const InvalidInput &) {
            throw std::runtime_error("this is no ledger's state");
        }
        reply(BP_OK, "");
    });
}

// ------------------------------------------------------------------------------------------------ descriptors

const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("add")},  {sizeof(bp_method), BP_SYNC, BP_TEXT("total")}, {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wait")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("path")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("fail")},
};

const bp_method needed[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("path")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fail")},
};

const bp_wire wires[] = {
    {sizeof(bp_wire), 0, BP_TEXT("trials"), BP_TEXT("Trials"), BP_TEXT("2.0.0"), needed, sizeof needed / sizeof *needed, nullptr},
};

const bp_state state = {sizeof(bp_state), 2, BP_TEXT("Ledger"), 1, 2, 1, 0, export_state, import_state, nullptr};

bp_component described() {
    bp_component component{};
    component.size = sizeof component;
    component.role = BP_MANAGER;
    component.class_name = BP_TEXT("LedgerManager");
    component.version = version();
    component.contract = BP_TEXT("Ledger");
    component.contract_version = BP_TEXT("1.0.0");
    component.methods = methods;
    component.method_count = sizeof methods / sizeof *methods;
    component.wires = wires;
    component.wire_count = sizeof wires / sizeof *wires;
    component.create = create;
    component.activate = activate;
    component.suspend = suspend;
    component.resume = resume;
    component.stop = stop;
    component.release = release;
    component.call = call;
    component.cancel = cancel;
    component.review = review;
    component.state = &state;
    component.health = health;
    return component;
}

}   // namespace

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const auto abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    // Created here, because a library must do nothing while it is loaded.
    static const bp_component components[] = {described()};
    bp_answer own{};
    own.size = answer->size < sizeof own ? answer->size : static_cast<uint32_t>(sizeof own);
    own.abi = abi;
    own.id = BP_TEXT(ID);
    own.version = version();
    own.toolchain = BP_TEXT(__VERSION__);
    own.components = components;
    own.component_count = sizeof components / sizeof *components;
    own.self_check = bp_check_self();
    std::memcpy(answer, &own, own.size);
    return BP_OK;
}
