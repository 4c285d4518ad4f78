import Foundation
import Glibc

/// A library that does wrong, or is something else altogether.
struct HostileLibrary: Sendable {
    /// How it comes to be.
    enum Making: Sendable {
        /// A family's source, compiled with `-D` and a name of what it does.
        case source(String, variant: String?, flags: [String] = [])
        /// The same with Swift in it.
        case swift(variant: String)
        /// The sound library with other bytes.
        case bytes(@Sendable (inout [UInt8]) -> Void)
        /// No library: a node of this kind and device, which this process may have no right to make.
        case node(mode_t, device: dev_t = 0)
        /// No library: what lies at its path instead.
        case other(@Sendable (_ path: String, _ good: String) -> Void)
    }
    let name: String
    /// What it does, in a sentence without an end.
    let what: String
    let making: Making
    /// It ends the host, which no host in the same process can help.
    var endsHost = false
    /// What a manifest gives for it.
    var sha256: String? = nil

    /// Whether something else lies at its path.
    var isOther: Bool { if case .other = making { true } else { false } }

    /// Returns whether the library at a path is one that waits or computes for ever.
    static func hangs(at path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return ["-never", "-loops", "-spins", "-uncancelled"].contains { name.contains($0) }
    }
}

/// Builds the libraries in a folder, with the compilers of the toolchain.
struct LibraryBuilder: Sendable {
    struct NotBuilt: Error, CustomStringConvertible {
        let description: String
    }
    /// What this process has no right to make.
    struct LeftOut: Error {
        let reason: String
    }
    let folder: String
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL.path
    private static let sources = package + "/Tests/Plugins/Hostile/Corpus",
        header = package + "/Sources/CBackplane/include"

    init(_ folder: String) throws {
        self.folder = folder
        try build("good", ["-shared", Self.sources + "/good.c"], as: good)
        try build(
            "stranger", ["-shared", "-DSTRANGER", "-DNO_IDENTITY", "-DHIDDEN_ENTRY", Self.sources + "/image.c"],
            as: folder + "/libstranger.so")
    }

    /// What is changed into others. Beside `libgood.so`, which is built among the others and may be half written
    /// meanwhile.
    private var good: String { folder + "/libmodel.so" }

    func path(of library: HostileLibrary) -> String { "\(folder)/lib\(library.name).so" }

    /// - Throws: ``LeftOut``, or what the compiler says.
    func make(_ library: HostileLibrary) throws {
        let path = path(of: library)
        switch library.making {
        case .source(let family, let variant, let flags):
            let isWhole = flags.contains("-c") || flags.contains("-no-pie")
            let source = ["\(Self.sources)/\(family).c"]
            try build(
                library.name,
                (isWhole ? [] : ["-shared"]) + (variant.map { ["-D\($0)"] } ?? []) + source + ["-L", folder] + flags,
                as: path)
        case .swift(let variant):
            try build(library.name, ["-c", "-D\(variant)", Self.sources + "/swift.c"], as: path + ".o")
            let process = [
                "swiftc", "-emit-library", "-module-name", "Hostile", "-D", variant, Self.sources + "/trap.swift",
                path + ".o", "-o", path,
            ]
            try run(process, for: library.name)
        case .bytes(let change):
            var bytes = contents(of: good)
            change(&bytes)
            write(bytes, to: path)
        case .node(let kind, let device):
            guard mknod(path, kind | 0o600, device) == 0 else {
                throw LeftOut(reason: String(cString: strerror(errno)))
            }
        case .other(let make):
            make(path, good)
        }
    }

    private func build(_ name: String, _ arguments: [String], as output: String) throws {
        try run(
            [
                "clang", "-fPIC", "-O1", "-g0", "-pthread", "-I", Self.header, "-Wno-unused-command-line-argument",
                "-o", output,
            ] + arguments, for: name)
    }

    private func run(_ command: [String], for name: String) throws {
        let outcome = Child.run("/usr/bin/env", command, limit: 120)
        guard case .exit(0) = outcome.ending else {
            throw NotBuilt(description: "\(name) is not built: \(outcome.errors)")
        }
    }
}

/// All of them, family by family.
extension HostileLibrary {
    static let all = sound + files + bytes + images + answers + entries + methods + streams + steps + traps

    private static func variants(
        of family: String, _ list: [(variant: String, what: String)], ending: Set<String> = [],
        flags: [String: [String]] = [:]
    ) -> [HostileLibrary] {
        list.map { variant, what in
            HostileLibrary(
                name: "\(family)-\(variant.lowercased().replacing("_", with: "-"))", what: what,
                making: .source(family, variant: variant, flags: flags[variant] ?? []),
                endsHost: ending.contains(variant))
        }
    }

    private static let sound = [
        HostileLibrary(name: "good", what: "does nothing wrong", making: .source("good", variant: nil))
    ]

    private static let files: [HostileLibrary] = [
        HostileLibrary(name: "file-missing", what: "is not there", making: .other { _, _ in }),
        HostileLibrary(name: "file-folder", what: "is a folder", making: .other { path, _ in mkdir(path, 0o700) }),
        HostileLibrary(name: "file-pipe", what: "is a pipe that nobody writes to", making: .node(S_IFIFO)),
        HostileLibrary(name: "file-socket", what: "is a socket that nobody listens at", making: .node(S_IFSOCK)),
        // As /dev/zero: whoever reads it to its end never comes back.
        HostileLibrary(
            name: "file-device-node", what: "is a device of endless zeros", making: .node(S_IFCHR, device: 1 << 8 | 5)),
        HostileLibrary(
            name: "file-device", what: "is a link to a device", making: .other { path, _ in symlink("/dev/zero", path) }
        ),
        HostileLibrary(
            name: "file-link", what: "is a link to a sound library",
            making: .other { path, good in symlink(good, path) }),
        HostileLibrary(
            name: "file-dangling", what: "is a link to nothing",
            making: .other { path, _ in symlink("/nowhere/at/all", path) }),
        HostileLibrary(name: "file-empty", what: "has no bytes", making: .bytes { $0 = [] }),
        HostileLibrary(name: "file-text", what: "is a text", making: .bytes { $0 = Array("#!/bin/sh\nexit 0\n".utf8) }),
        HostileLibrary(
            name: "file-open-to-all", what: "is sound, and everybody may write to it",
            making: .other { path, good in
                copy(good, to: path)
                chmod(path, 0o666)
            }),
        HostileLibrary(
            name: "file-sealed", what: "is sound, and its rights let nobody read it, or it belongs to a stranger",
            making: .other { path, good in
                copy(good, to: path)
                // The superuser reads everything, and can give files away.
                if geteuid() == 0 { chown(path, 65_534, 65_534) } else { chmod(path, 0) }
            }),
        HostileLibrary(
            name: "file-other-digest", what: "is sound, and the manifest gives another SHA-256",
            making: .source("good", variant: nil),
            sha256: String(repeating: "0", count: 64)),
        HostileLibrary(
            name: "file-object", what: "is an object file", making: .source("good", variant: nil, flags: ["-c"])),
        HostileLibrary(
            name: "file-program", what: "is a program",
            making: .source(
                "good", variant: nil, flags: ["-no-pie", "-nostartfiles", "-Wl,-e,backplane_plugin_entry_v1"])),
    ]

    private static let bytes: [HostileLibrary] =
        stride(from: 5, to: 100, by: 5).map { part in
            HostileLibrary(
                name: "bytes-\(part < 10 ? "0" : "")\(part)-percent", what: "ends after \(part) % of its bytes",
                making: .bytes { $0.removeLast($0.count - $0.count * part / 100) })
        } + [
            HostileLibrary(name: "bytes-last-missing", what: "lacks its last byte", making: .bytes { $0.removeLast() }),
            HostileLibrary(
                name: "bytes-more", what: "has a page of zeros behind its end, and works",
                making: .bytes { $0 += [UInt8](repeating: 0, count: 4_096) }),
            HostileLibrary(
                name: "bytes-zero-tail", what: "has zeros for the last tenth of its bytes",
                making: .bytes { bytes in
                    for index in bytes.count * 9 / 10..<bytes.count { bytes[index] = 0 }
                }),
            HostileLibrary(
                name: "bytes-zero-half", what: "has zeros for its second half",
                making: .bytes { bytes in
                    for index in bytes.count / 2..<bytes.count { bytes[index] = 0 }
                }),
            HostileLibrary(
                name: "bytes-wrong-magic", what: "does not begin as ELF does", making: .bytes { $0[0] = 0x7E }),
            HostileLibrary(name: "bytes-32-bit", what: "says that it is of 32 bits", making: .bytes { $0[4] = 1 }),
            HostileLibrary(
                name: "bytes-big-endian", what: "says that its numbers begin with the highest byte",
                making: .bytes { $0[5] = 2 }),
            HostileLibrary(
                name: "bytes-other-machine", what: "says that it is for another processor",
                making: .bytes { $0[18] = 183 }),
            HostileLibrary(
                name: "bytes-sections-beyond", what: "says that its sections lie beyond any file",
                making: .bytes { bytes in
                    for index in 40..<48 { bytes[index] = 0xFF }
                }),
            HostileLibrary(
                name: "bytes-no-segments", what: "says that it has no segments",
                making: .bytes { ($0[56], $0[57]) = (0, 0) }),
        ]

    private static let images = variants(
        of: "image",
        [
            ("NO_IDENTITY", "has no identity section"), ("SHORT_IDENTITY", "has an identity record that ends too soon"),
            ("WRONG_MARK", "has an identity record that begins otherwise"), ("FUTURE_ABI", "speaks ABI 7 to 9"),
            ("TWO_IDENTITIES", "gives two ids"), ("NO_ENTRY", "exports no entry"), ("HIDDEN_ENTRY", "hides its entry"),
            ("EXPORTS_SDK", "exports names of the SDK and of the Swift runtime"),
            ("INTERPOSES", "exports a function of libc's name"),
            ("CONSTRUCTOR_NEVER", "has a constructor that never returns"),
            ("CONSTRUCTOR_ABORTS", "has a constructor that aborts"),
            ("UNRESOLVED", "calls a function that is nowhere"),
            ("NEEDS_STRANGER", "needs a library that lies beside it"),
        ],
        ending: ["CONSTRUCTOR_ABORTS", "CONSTRUCTOR_NEVER"],
        flags: ["NEEDS_STRANGER": ["-lstranger", "-Wl,-rpath,$ORIGIN"]])

    private static let answers = variants(
        of: "answer",
        [
            ("SIZE_0", "says that its answer has 0 bytes"), ("SIZE_HUGE", "says that its answer has 4 GB"),
            ("ABI_99", "chooses ABI 99"),
            ("ABI_NONE", "says that no ABI suits it"), ("REFUSES", "refuses with status 42"),
            ("NO_SELF_CHECK", "has no self-check"), ("LYING_HASH", "gives a wrong hash of the header's layout"),
            ("OTHER_LAYOUT", "puts a field elsewhere"),
            ("NO_TABLE", "gives no table of the header's layout"), ("NO_ID", "has no id"),
            ("OTHER_ID", "answers another id than its file says"),
            ("CONTROL_ID", "has control characters in its id"), ("NO_VERSION", "has a version in words"),
            ("NULL_COMPONENTS", "gives a count of components and NULL"), ("HUGE_COUNT", "has 2^64 - 1 components"),
            ("MANY_COMPONENTS", "has 70,000 components"),
            ("MISALIGNED_COMPONENTS", "has components at an odd address"),
            ("TINY_STRIDE", "says that a component has 4 bytes"),
            ("ODD_STRIDE", "says that components lie 4 bytes off"), ("SAME_CLASS_TWICE", "registers a class twice"),
            ("CONTROL_CLASS", "has control characters in a class name"),
            ("BAD_UTF8_CLASS", "has a class name that is not UTF-8"),
            ("LONG_CLASS", "has a class name of 10 MB"), ("NULL_CLASS", "has a class name of 6 bytes at NULL"),
            ("ROLE_9", "has a component of role 9"),
            ("NO_CREATE", "has a component that cannot be made"),
            ("NO_CALL", "has methods and no function that is called"),
            ("NULL_METHODS", "gives a count of methods and NULL"), ("HUGE_METHODS", "has 2^63 - 1 methods"),
            ("MISALIGNED_METHODS", "has methods at an odd address"), ("SAME_METHODS", "has two methods of one name"),
            ("NO_OPEN", "has a stream and no functions that serve it"),
            ("NULL_STATE", "has state without functions"), ("MISALIGNED_STATE", "has state at an odd address"),
            ("BAD_ANNOTATION", "has an annotation that is not JSON"),
            ("LONG_ANNOTATION", "has an annotation of 300,000 bytes"),
            ("SHIFTY", "brings another class when it is loaded again"),
            ("OVERRUN", "writes more of its answer than there is room for"),
        ])

    private static let entries = variants(
        of: "entry",
        [
            ("ABORTS", "aborts in its entry"), ("FAULTS", "reads memory that is not there in its entry"),
            ("EXITS", "ends the process in its entry"),
            ("NEVER", "has an entry that waits for ever"), ("SPINS", "has an entry that computes for ever"),
            ("PRINTS", "prints in its entry"),
            ("OPENS", "leaves a file open in its entry"),
        ],
        ending: ["ABORTS", "FAULTS", "EXITS"])

    private static let methods = variants(
        of: "method",
        [
            ("TWICE", "answers a call twice"), ("LATE", "answers after the deadline"),
            ("LATE_SYNC", "answers a synchronous call later"),
            ("NEVER", "never answers"), ("LOOPS", "never returns from a call"), ("ABORTS", "aborts in a call"),
            ("FAULTS", "writes to memory that is not there in a call"),
            ("ABORTS_ELSEWHERE", "aborts on a thread of its own"), ("EXITS", "ends the process in a call"),
            ("FAILS_AT_LENGTH", "fails with a text of 10 MB"),
            ("FAILS_UNREADABLY", "fails with a text that is not UTF-8"),
            ("FAILS_IN_CONTROL", "fails with a text that clears the screen"),
            ("FAILS_IN_PIECES", "fails with half of a JSON object"),
            ("STATUS_99", "answers with a status that there is not"), ("NO_JSON", "answers what is no JSON"),
            ("NO_BYTES", "answers 5 bytes at NULL"),
            ("ACCEPTS", "takes anything for JSON"), ("UNCANCELLED", "never answers, cancelled or not"),
            ("WORKS_ON", "works on when it is cancelled"), ("TWICE_LATE", "answers a call a second time a while later"),
            ("BYTE_ORDER_MARK", "answers JSON with a byte order mark"),
            ("CANCEL_ABORTS", "aborts when a call is cancelled that is over"),
        ],
        ending: ["ABORTS", "FAULTS", "ABORTS_ELSEWHERE", "EXITS"])

    private static let streams = variants(
        of: "stream",
        [
            ("SOUND", "gives three elements"), ("WAITS", "gives no element, and does nothing wrong"),
            ("TWICE", "answers a request for elements twice"), ("AFTER_END", "answers after its end"),
            ("NO_ELEMENTS", "answers with no elements"), ("TOO_MANY", "answers with more elements than were asked for"),
            ("NO_ARRAY", "answers with an object"), ("NO_JSON", "answers with what is no JSON"),
            ("ACCEPTS", "takes anything for JSON"), ("NEVER", "never answers a request, closed or not"),
            ("CLOSE_NEVER", "never says that it is closed"), ("CLOSE_TWICE", "says twice that it is closed"),
            ("CLOSE_ABORTS", "aborts when it is closed"),
        ],
        ending: ["CLOSE_ABORTS"])

    private static let steps = variants(
        of: "step",
        [
            ("CREATE_NEVER", "never says that a component is made"),
            ("CREATE_LOOPS", "never returns from making a component"),
            ("CREATE_FAILS", "cannot make its component"), ("CREATE_NOTHING", "makes a component at NULL"),
            ("CREATE_TWICE", "says twice that a component is made"),
            ("ALONE", "makes one component and no second"), ("ACTIVATE_NEVER", "is never active"),
            ("ACTIVATE_FAILS", "cannot be activated"),
            ("ACTIVATE_ABORTS", "aborts when it is activated"),
            ("ACTIVATE_TWICE", "says three times that it is active"),
            ("SUSPEND_FAILS", "cannot be suspended"), ("STOP_NEVER", "never stops"),
            ("STOP_ABORTS", "aborts when it is stopped"),
            ("POOL_USED", "is activated by a timer of libdispatch"),
            ("PROCESS_LEFT", "leaves a process behind when it is stopped"),
            ("FILE_LEFT", "leaves a file open when it is stopped"),
            ("RELEASE_ABORTS", "aborts when it is released"), ("STATE_FORGETS", "exports other state than it imported"),
            ("STATE_REFUSED", "does not import what it exports"),
            ("STATE_REORDERS", "exports arrays in a different order than it imported"),
        ],
        ending: ["ACTIVATE_ABORTS", "STOP_ABORTS", "RELEASE_ABORTS"])

    private static let traps = [
        HostileLibrary(
            name: "swift-traps", what: "calls fatalError in a method", making: .swift(variant: "TRAPS"), endsHost: true),
        HostileLibrary(
            name: "swift-retroactive",
            what: "declares a conformance of a type and a protocol that are both not its own",
            making: .swift(variant: "RETROACTIVE")),
    ]
}
