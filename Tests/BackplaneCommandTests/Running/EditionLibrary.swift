import Foundation
import Testing

/// A plugin in C in several editions: its manager says which it is and how often it was asked to count, or fails when
/// it is told to.
enum EditionLibrary {
    static let id = "org.example.edition"

    /// Compiles an edition to `folder/name` and returns its path.
    ///
    /// - Parameters:
    ///   - manager: another class name, and in small letters the end of another id.
    ///   - className: a class name of its own, which the id does not follow.
    ///   - fails: every call of it is an error.
    ///   - starts: its manager is ever up; one that never is prints `waiting` when it is to come up.
    ///   - stops: its manager stops when it is asked to.
    ///   - chats: it prints `tick` from the beginning on, so many microseconds apart.
    @discardableResult
    static func compile(
        _ edition: Int, of manager: String = "Edition", to folder: String, as name: String = "libEdition.so",
        className: String? = nil, fails: Bool = false, starts: Bool = true, stops: Bool = true,
        chats: Int? = nil
    ) throws -> String {
        let source = folder + "/edition.c", path = folder + "/" + name
        try Data(text.utf8).write(to: URL(filePath: source))
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        let words = [
            "EDITION": "\(edition)", "MANAGER": className ?? manager, "ID": "org.example.\(manager.lowercased())",
        ].map {
            #"-D\#($0)="\#($1)""#
        }
        let choices = [
            "-DSTATUS=\(fails ? "BP_FAILED" : "BP_OK")", "-DSTARTS=\(starts ? 1 : 0)", "-DSTOPS=\(stops ? 1 : 0)",
            "-DPAUSE=\(chats ?? -1)",
        ]
        compiler.arguments =
            ["clang", "-shared", "-fPIC"] + choices + words + [
                "-I", Tool.manifests + "/../Sources/CBackplane/include", "-o", path, source,
            ]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return path
    }

    /// A manifest with one manager of it.
    static let manifest = manifest("Edition")

    /// A manifest with a manager of each of such libraries.
    static func manifest(_ names: String...) -> String {
        let plugins = names.map { #"{"library": "\#($0)"}"# },
            managers = names.map { #""\#($0)": {"className": "\#($0)"}"# }
        return
            #"{"manifestVersion": 1, "plugins": [\#(plugins.joined(separator: ", "))], "managers": {\#(managers.joined(separator: ", "))}}"#
    }

    private static let text = """
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        #include "backplane.h"
        #define VERSION EDITION ".0.0"
        BP_IDENTITY(ID, VERSION)
        static char instance;
        static int counted;
        static const bp_method methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("edition")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("count")}};
        static void *chat(void *nothing) {
            for (;;) {
                puts("tick");
                if (PAUSE > 0) usleep(PAUSE);
            }
            return nothing;
        }
        static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
            bp_bytes nothing = {0, 0};
            pthread_t chatter;
            if (PAUSE >= 0) pthread_create(&chatter, 0, chat, 0);
            done(context, BP_OK, &instance, nothing);
        }
        static void activate(void *self, bp_done done, void *context) {
            bp_bytes nothing = {0, 0};
            if (STARTS) done(context, BP_OK, nothing);
            else puts("waiting");
        }
        static void stop(void *self, bp_done done, void *context) {
            bp_bytes nothing = {0, 0};
            if (STOPS) done(context, BP_OK, nothing);
        }
        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            bp_bytes answer = BP_TEXT(EDITION);
            char number[16];
            if (method == 1) {
                answer.length = snprintf(number, sizeof number, "%d", ++counted);
                answer.data = (const uint8_t *)number;
            }
            done(context, STATUS, answer);
        }
        static const bp_component components[] = {{
            .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT(MANAGER), .version = BP_TEXT(VERSION),
            .contract = BP_TEXT("Editions"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = 2, .create = create, .activate = activate, .stop = stop, .call = call}};
        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
            *answer = (bp_answer){
                .size = sizeof *answer, .abi = BP_ABI_MAX, .id = BP_TEXT(ID), .version = BP_TEXT(VERSION),
                .components = components, .component_count = 1, .self_check = bp_check_self()};
            return BP_OK;
        }
        """
}
