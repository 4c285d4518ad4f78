import Backplane
import BackplaneHost

/// A library's file, as a host judges it before any of its code runs.
struct LibraryFacts: Sendable {
    let isTrusted, hasEntry, hasIdentity: Verdict
    private let image: ELFImage?

    init(of path: String, in folder: LoadFolder) {
        func judge(_ check: () throws(BackplaneError) -> Void) -> Verdict {
            do throws(BackplaneError) { try check() } catch { return .failed([error.message]) }
            return .passed
        }
        var opened: (copy: LibraryCopy, image: ELFImage)?
        isTrusted = judge { () throws(BackplaneError) in
            let copy = try LibraryCopy(of: path, in: folder)
            opened = (copy, try copy.image())
        }
        image = opened?.image
        guard let (copy, image) = opened else {
            // The other rules need the first.
            (hasEntry, hasIdentity) = (isTrusted, isTrusted)
            return
        }
        hasEntry = judge { () throws(BackplaneError) in try copy.requireEntry(in: image) }
        hasIdentity = judge { () throws(BackplaneError) in _ = try copy.identity(in: image) }
    }

    var exportsNothingElse: Verdict {
        let names = (image?.interposable ?? []).filter { $0 != LibraryFile.entry }
        if names.isEmpty { return .passed }
        let shown = names.prefix(8).map { "`\($0)`" }.joined(separator: ", "),
            more = names.count > 8 ? " and \(names.count - 8) more" : ""
        let advice =
            names.contains { $0.hasPrefix("_Z") }
            ? " or, because C++ still exports its instances of the standard library's templates, link" : ", or link"
        return .failed([
            "it exports \(shown)\(more); make them static, compile with -fvisibility=hidden\(advice) with the version script `\(Self.versionScript)`"
        ])
    }

    /// The text of a version script for the linker.
    private static let versionScript = "{ global: backplane_plugin_entry_v1; local: *; };"

    var needsNoStrangers: Verdict {
        let strangers = (image?.neededLibraries ?? []).filter { name in
            guard let stem = name.wholeMatch(of: /([^.]+)\.so(\.\d+)*/)?.output.1 else {
                return !name.hasPrefix("libclang_rt.")
            }
            return !Self.ofSystem.contains(String(stem))
        }
        return .judging(
            strangers.map {
                "it needs \($0): if two plugins have a library of that name, the second uses that of the first; link it into the plugin"
            })
    }

    /// The libraries that are part of every process that uses Swift, or only C.
    private static let ofSystem: Set = [
        // The libraries of glibc and the compilers.
        "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libmvec", "libdl", "libpthread", "librt", "libutil",
        "libresolv", "libanl", "libgcc_s", "libstdc++", "libc++", "libc++abi",
        // The libraries of the toolchain's lib/swift/linux for programs, without those for tests and tools.
        "libBlocksRuntime", "libFoundation", "libFoundationEssentials", "libFoundationInternationalization",
        "libFoundationNetworking", "libFoundationXML", "lib_FoundationICU", "libdispatch", "libswiftCore",
        "libswiftDispatch", "libswiftDistributed", "libswiftGlibc", "libswiftObservation", "libswiftRegexBuilder",
        "libswiftRuntime", "libswiftSwiftOnoneSupport", "libswiftSynchronization", "libswift_Builtin_float",
        "libswift_Concurrency", "libswift_Differentiation", "libswift_RegexParser", "libswift_StringProcessing",
        "libswift_Volatile",
    ]

    var hasNoRetroactiveConformances: Verdict {
        guard let image, image.hasSwift else { return .notApplicable("it contains no Swift") }
        do throws(ELFImage.Defect) {
            return .judging(
                try image.retroactiveConformances().map {
                    "\($0): a cast through it may run another library's code; declare it for a type of your own"
                })
        } catch {
            return .failed(["its conformances cannot be read: \(error)"])
        }
    }
}
