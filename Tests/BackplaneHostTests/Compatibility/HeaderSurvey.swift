import Foundation

@testable import BackplaneHost

/// A header, asked by way of the compiler how it is laid out.
///
/// Names and types come from what the compiler understood, offsets, sizes and values from a program that is compiled
/// with the header and prints them.
struct HeaderSurvey {
    private let header: HeaderText
    private let folder: String
    private let declarations: [Declaration]

    /// Of what the compiler writes about a source, the part that matters here.
    private struct Declaration: Decodable {
        struct Spelling: Decodable { var qualType: String }
        var kind: String?
        var name: String?
        var storageClass: String?
        var type: Spelling?
        var inner: [Declaration]?

        func isNamed(_ prefix: String) -> Bool { name?.hasPrefix(prefix) == true }

        /// Whether a pointer may be NULL, and where a function may be called, change nothing about the layout.
        var spelling: String {
            (type?.qualType ?? "?").replacing(/\s?\b_N(onnull|ullable)\b/, with: "").replacing("BP_SENDABLE ", with: "")
        }
    }

    /// - Parameter folder: where `backplane.h` lies.
    init(in folder: String) throws {
        self.folder = folder
        header = try HeaderText(in: folder)
        let place = try LoadingFixture.Folder(),
            source = try place.write(Array("#include \"backplane.h\"\n".utf8), as: "source.c")
        let tree = try LoadingFixture.run([
            "clang", "-std=c99", "-I", folder, "-Xclang", "-ast-dump=json", "-fsyntax-only", source,
        ])
        declarations = try JSONDecoder().decode(Declaration.self, from: Data(tree)).inner ?? []
    }

    func layout() throws -> BoundaryLayout {
        let place = try LoadingFixture.Folder()
        // The compiler's own file: one that this process has written cannot be run while a child that it is just
        // starting still has it open for writing.
        _ = try LoadingFixture.compile(program, ["-std=c99"], headers: folder, in: place)
        let printed = try LoadingFixture.run([place.path + "/output"])
        var layout = try BoundaryLayout(text: String(decoding: printed, as: UTF8.self))
        for index in layout.structs.indices {
            layout.structs[index].neverGrows = header.neverGrowing.contains(layout.structs[index].name)
        }
        layout.constants += header.constants.filter { !["BP_ABI_MIN", "BP_ABI_MAX"].contains($0.name) }.map {
            .init(name: $0.name, value: $0.value)
        }
        return layout
    }

    private var program: String {
        """
        #include "backplane.h"
        #include <stdio.h>
        #define STRUCT(type) do { \\
            struct probe { char before; type itself; }; \\
            printf("struct %s: %zu bytes, aligned to %zu\\n", #type, sizeof(type), offsetof(struct probe, itself)); \\
        } while (0)
        #define FIELD(type, field, spelling) \\
            printf("%s.%s at %zu, %zu bytes: %s\\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field), spelling)
        int main(void) {
            printf("abi %u to %u\\n", BP_ABI_MIN, BP_ABI_MAX);
            \((structs + constants + functions).joined(separator: "\n    "))
            return 0;
        }

        """
    }

    private var structs: [String] {
        declarations.filter { $0.kind == "RecordDecl" && $0.isNamed("bp_") }.flatMap { type in
            let fields = (type.inner ?? []).filter { $0.kind == "FieldDecl" }
            return ["STRUCT(\(type.name!));"] + fields.map { "FIELD(\(type.name!), \($0.name!), \"\($0.spelling)\");" }
        }
    }

    private var constants: [String] {
        declarations.filter { $0.kind == "EnumDecl" }.flatMap { $0.inner ?? [] }.filter { $0.isNamed("BP_") }.map {
            "printf(\"constant \($0.name!): %d\\n\", (int)\($0.name!));"
        }
    }

    /// Those that cross; what is `static inline` is compiled into its callers.
    private var functions: [String] {
        let types = declarations.filter { $0.kind == "TypedefDecl" && $0.isNamed("bp_") && $0.spelling.contains("(") }
        let exported = declarations.filter {
            $0.kind == "FunctionDecl" && $0.storageClass == nil && ($0.isNamed("backplane_") || $0.isNamed("bp_"))
        }
        return (types + exported).map { "printf(\"function \($0.name!): \($0.spelling)\\n\");" }
    }
}
