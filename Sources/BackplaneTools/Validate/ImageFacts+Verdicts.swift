import Backplane

extension ImageFacts {
    var verdicts: Verdicts {
        if let refusal {
            var verdicts = Verdicts(
                Requirement.ofFile, .skipped("the library cannot be examined, because of \(Requirement.file.id)"))
            verdicts[.file] = .failed(refusal.findings)
            return verdicts
        }
        var verdicts: Verdicts = [.file: .passed()]
        verdicts[.entry] = Verdict(findings: entry?.findings ?? [])
        verdicts[.identity] = Verdict(findings: identity?.findings ?? [])
        if let contents { verdicts.take(contents.verdicts) }
        return verdicts
    }
}

extension ImageFacts.Contents {
    fileprivate var verdicts: Verdicts {
        [
            .exports: Verdict(findings: Self.exported(exports)),
            .libraries: Verdict(
                findings: strangers.map {
                    "it needs \($0): if two plugins have a library of that name, the second uses that of the first; link it into the plugin"
                }),
            .initialisers: Verdict(findings: ownInitialisers),
            .memory: Verdict(findings: memory),
            .conformances: hasSwift || !retroactive.isEmpty
                ? Verdict(
                    findings: retroactive.map {
                        "\($0): a cast through it may run another library's code; declare it for a type of your own"
                    })
                : .notApplicable("it contains no Swift"),
            .resources: hasSwift || !resourceBundles.isEmpty
                ? Verdict(
                    findings: resourceBundles.map {
                        "code of \($0) uses Bundle.module, which ends the process if the build folder is missing; use context.resources"
                    })
                : .notApplicable("it contains no Swift"),
        ]
    }

    /// The text of a version script for the linker.
    private static let versionScript = "{ global: backplane_plugin_entry_v1; local: *; };"

    private static func exported(_ names: [String]) -> [String] {
        guard !names.isEmpty else { return [] }
        let shown = names.prefix(8).map { "`\($0)`" }.joined(separator: ", "),
            more = names.count > 8 ? " and \(names.count - 8) more" : ""
        let advice =
            names.contains { $0.hasPrefix("_Z") }
            ? " or, because C++ still exports its instances of the standard library's templates, link"
            : ", or link"
        return [
            "it exports \(shown)\(more); make them static, compile with -fvisibility=hidden\(advice) with the version script `\(versionScript)`"
        ]
    }

    /// The needed libraries that are not part of every process that uses Swift, or only C.
    private var strangers: [String] {
        libraries.filter { name in
            guard let stem = name.wholeMatch(of: /([^.]+)\.so(\.\d+)*/)?.output.1 else {
                return !name.hasPrefix("libclang_rt.")
            }
            return !Self.ofSystem.contains(String(stem))
        }
    }

    private static let ofSystem: Set = [
        // The libraries of glibc and the compilers.
        "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libmvec", "libdl", "libpthread", "librt", "libutil",
        "libresolv", "libanl", "libgcc_s", "libstdc++",
        "libc++", "libc++abi",
        // The libraries of the toolchain's lib/swift/linux for programs, without those for tests and tools.
        "libBlocksRuntime", "libFoundation", "libFoundationEssentials", "libFoundationInternationalization",
        "libFoundationNetworking", "libFoundationXML",
        "lib_FoundationICU", "libdispatch", "libswiftCore", "libswiftDispatch", "libswiftDistributed", "libswiftGlibc",
        "libswiftObservation",
        "libswiftRegexBuilder", "libswiftRuntime", "libswiftSwiftOnoneSupport", "libswiftSynchronization",
        "libswift_Builtin_float",
        "libswift_Concurrency", "libswift_Differentiation", "libswift_RegexParser", "libswift_StringProcessing",
        "libswift_Volatile",
    ]

    /// The findings about initialisers, except for those that a toolchain adds to every library.
    private var ownInitialisers: [String] {
        let choosers = choosers.map {
            "`\($0)` runs when the library is loaded, to choose a function (`ifunc`); choose at the first call instead"
        }
        let strange = initialisers.filter { name in
            !Self.ofToolchain.contains(name) && !Self.ofInstrumentation.contains { name.hasPrefix($0) }
                && !Self.isOfRust(name)
        }
        guard isStripped else {
            return strange.map { "`\($0)` runs when the library is loaded; do it in create or activate" } + choosers
        }
        // Without symbols, only the number is known: one from crti.o, one from crtbegin.o, and one each from the Swift
        // runtime and from Rust's standard library.
        let usual = (hasStartFiles ? 2 : 0) + (libraries.contains("libswiftCore.so") ? 1 : 0) + (hasRust ? 1 : 0)
        return choosers
            + (initialisers.count > usual
                ? [
                    "\(initialisers.count) functions run when the library is loaded, but the toolchain adds at most \(usual); their names are unknown, because the library is stripped"
                ] : [])
    }

    private static let ofToolchain: Set = [
        "_init", "frame_dummy", "_ZL23swift_image_constructorv", "asan.module_ctor", "tsan.module_ctor",
        "init_have_lse_atomics",
    ]
    /// The name prefixes of initialisers that instrumentation adds.
    private static let ofInstrumentation = ["__llvm_", "__sanitizer", "sancov."]

    /// Returns whether a symbol is the initialiser in Rust's standard library, which only stores the arguments of the
    /// process and is in every library with `std`.
    ///
    /// Both manglings of Rust begin with the crate's name; C++ abbreviates its own `std` to `St`.
    static func isOfRust(_ symbol: String) -> Bool {
        (symbol.hasPrefix("_ZN3std3sys") || symbol.prefixMatch(of: /_R(?:N[a-z])+C(?:s[0-9A-Za-z]*_)?3std3sys/) != nil)
            && symbol.contains("15ARGV_INIT_ARRAY")
    }

    private var memory: [String] {
        [
            relocatesText
                ? "its code is changed when it is loaded, so it is neither shared nor protected; compile with -fPIC"
                : nil,
            hasExecutableStack ? "it makes every stack of the process executable; link with -z noexecstack" : nil,
            hasWritableCode
                ? "one of its segments is both writable and executable; link without -N and -z rwx-segments" : nil,
        ].compactMap(\.self)
    }
}
