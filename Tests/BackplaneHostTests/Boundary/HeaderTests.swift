import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// `backplane.h` is for every compiler of C and C++ that a plugin may be built by.
@Suite(.timeLimit(.minutes(5)))
struct HeaderTests {
    private static let plugin = """
        #include "backplane.h"
        BP_IDENTITY("org.example.any", "1.0.0")
        static const bp_method method = {sizeof(bp_method), BP_SYNC, BP_TEXT("now")};
        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
            answer->abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
            answer->self_check = bp_check_self();
            return method.kind == BP_SYNC && answer->abi != BP_NO_ABI ? BP_OK : BP_UNIMPLEMENTED;
        }
        """

    /// Compiles and strips a library.
    private func compile(_ source: String, _ flags: [String], by compiler: [String] = ["clang"]) throws -> [UInt8] {
        let folder = try TestFolder(), input = try folder.write(Array(source.utf8), as: "source.c")
        let header = FilePath.folder(of: #filePath) + "/../../../Sources/CBackplane/include",
            output = FilePath.join(folder.path, "output")
        try Compiler.run(compiler + ["-shared", "-fPIC", "-s", "-I", header, "-o", output, input] + flags)
        return Array(try Data(contentsOf: URL(fileURLWithPath: output)))
    }

    /// Compilers other than the toolchain's, where they are installed.
    @Test(arguments: ["clang", "gcc"], ["-std=c99", "-std=c17", "-std=c++11", "-std=c++17", "-std=c++20"])
    func `it is compiled without a warning, and a stripped plugin made of it alone has an identity and an entry`(
        compiler: String, standard: String
    ) throws {
        let isInstalled = ["/usr/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(compiler)")
        }
        if compiler != "clang", !isInstalled { try Test.cancel("\(compiler) is not installed") }
        let language = standard.contains("++") ? "c++" : "c"
        let bytes = try compile(
            Self.plugin, [standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"],
            by: [compiler, "-x", language])
        let image = try ELFImage(bytes), identity = try LibraryIdentity(of: image, at: "libAny.so")
        #expect(identity.id == "org.example.any" && identity.version == "1.0.0" && !identity.hasSwift)
        #expect(image.defines(symbol: LibraryFile.entry))
    }

    @Test(arguments: ["lld", "gold", "bfd"])
    func `the header's own record is kept by any linker`(linker: String) throws {
        let bytes = try compile(
            Self.plugin, ["-Wl,--gc-sections", "-ffunction-sections", "-fdata-sections", "-fuse-ld=\(linker)"])
        #expect(try LibraryIdentity(of: ELFImage(bytes), at: "libAny.so").id == "org.example.any")
    }
}
