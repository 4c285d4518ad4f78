import BackplaneHost
package import BackplaneTestKit
import Foundation
import Synchronization

/// What the loading tests work on: real folders, real files, real libraries.
package enum LoadingFixture {
    package static func exists(_ path: String) -> Bool {
        (try? FileStatus(at: path)) != nil
    }
}

/// C compiled while the tests run.
extension LoadingFixture {
    private static let built = Mutex<[[String]: [UInt8]]>([:])

    /// The bytes of a small plugin, each variant compiled once: `flags` choose it by the macros in its source.
    ///
    /// When code of it runs it leaves a file beside itself, called like it with `.ran` at the end.
    package static func library(_ flags: String...) throws -> [UInt8] {
        try library(of: plugin, flags)
    }

    /// The bytes of a library, each variant compiled once.
    package static func library(
        of source: String, _ flags: [String], by compiler: [String] = ["clang"], headers: String = header
    ) throws -> [UInt8] {
        try built.withLock { built in
            let variant = compiler + [headers, source] + flags
            if let bytes = built[variant] { return bytes }
            let folder = try TestFolder()
            let bytes = try compile(source, ["-shared", "-fPIC"] + flags, by: compiler, headers: headers, in: folder)
            built[variant] = bytes
            return bytes
        }
    }

    /// Compiles `source` and returns what the linker made of it.
    ///
    /// - Parameter headers: the folder that `backplane.h` is taken from.
    package static func compile(
        _ source: String, _ flags: [String], by compiler: [String] = ["clang"], headers: String = header,
        in folder: TestFolder
    ) throws -> [UInt8] {
        let input = try folder.write(Array(source.utf8), as: "source.c")
        let output = FilePath.join(folder.path, "output")
        _ = try run(compiler + ["-I", headers, "-o", output, input] + flags)
        return Array(try Data(contentsOf: URL(fileURLWithPath: output)))
    }

    /// What a command prints.
    package static func run(_ command: [String]) throws -> [UInt8] {
        let process = Process(), printed = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = printed
        try process.run()
        let output = printed.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CommandFailed(command: command) }
        return Array(output)
    }

    package struct CommandFailed: Error {
        var command: [String]
    }

    /// Sources/CBackplane/include, from where this file lies.
    package static let header = FilePath.absolute(
        FilePath.folder(of: #filePath) + "/../../Sources/CBackplane/include")

    private static let plugin = #"""
        #define _GNU_SOURCE
        #ifdef ENTRY_IS_HIDDEN
        #define BP_EXPORT __attribute__((visibility("hidden")))
        #endif
        #include "backplane.h"
        #include <dlfcn.h>
        #include <stdio.h>
        #ifdef ABI_FROM
        #undef BP_ABI_MIN
        #undef BP_ABI_MAX
        #define BP_ABI_MIN ABI_FROM
        #define BP_ABI_MAX ABI_TO
        #endif

        __attribute__((constructor)) static void ran(void) {
            Dl_info info;
            char name[4096];
            if (!dladdr((void *)ran, &info)) return;
            snprintf(name, sizeof name, "%s.ran", info.dli_fname);
            FILE *file = fopen(name, "w");
            if (file) fclose(file);
        }

        #if defined(ENTRY_IS_ELSEWHERE)
        int32_t call_it(const bp_offer *offer, bp_answer *answer) { return backplane_plugin_entry_v1(offer, answer); }
        #elif defined(ENTRY_IS_DATA)
        #define backplane_plugin_entry_v1 data_of_the_entry
        __attribute__((used)) int data __asm__("backplane_plugin_entry_v1") = 1;
        #elif !defined(NO_ENTRY)
        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) { return BP_OK; }
        #endif

        #ifdef BULKY
        /* As much as a library's debug information; nothing loads it. */
        __asm__(".section .bulk,\"\",@progbits\n.fill 700000, 1, 0x5A\n.text");
        #endif

        #ifdef NEEDS_MORE
        int defined_nowhere(void);
        int more(void) { return defined_nowhere(); }
        #endif

        #if defined(EMPTY_SECTION)
        static const char nothing[16] __attribute__((used, section(BP_SECTION)));
        #elif !defined(NO_IDENTITY)
        #ifdef WITH_SDK
        static const bp_identity sdk BP_KEEP = {BP_IDENTITY_MAGIC, sizeof(bp_identity), BP_ABI_MIN, BP_ABI_MAX, 6003, "0.1.0", "swiftc", "", ""};
        #endif
        BP_IDENTITY("org.example.test", "1.2.3")
        #endif
        """#
}
