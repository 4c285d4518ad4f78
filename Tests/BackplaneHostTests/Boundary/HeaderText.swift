import Foundation

@testable import BackplaneHost

/// `backplane.h` as text, and other versions of it: what a plugin of another year was compiled with.
struct HeaderText {
    /// Without its comments.
    private(set) var text: String
    /// The structs whose comments promise that they never grow.
    let neverGrowing: Set<String>

    /// - Parameter folder: where it lies.
    init(in folder: String = LoadingFixture.header) throws {
        let whole = try String(contentsOf: URL(filePath: folder + "/backplane.h"), encoding: .utf8)
        let commented = whole.matches(of: /\/\*((?:(?!\*\/)[\s\S])*)\*\/\s*typedef struct (\w+) \{/)
        neverGrowing = Set(commented.filter { $0.1.contains("Never grows.") }.map { String($0.2) })
        text = whole.replacing(/\/\*[\s\S]*?\*\//, with: "")
    }

    /// The macros that stand for a number, a text or bytes, as the preprocessor replaces them.
    var constants: [(name: String, value: String)] {
        text.matches(of: /#define (BP_\w+) +(\S.*)/).map { (String($0.1), $0.2.trimmingCharacters(in: .whitespaces)) }
            .filter { _, value in
                value.wholeMatch(of: /".*"|\{.*\}|(0x)?[0-9A-F]+u?/) != nil
            }
    }

    /// A struct and the names of its fields.
    struct Struct {
        var name: String
        var fields: [String]
        /// Begins with a size, and so may grow.
        var isSized: Bool { fields.first == "size" && name != "bp_call" }
    }

    var structs: [Struct] {
        text.matches(of: /typedef struct (\w+) \{([\s\S]*?)\} \1;/).map { match in
            Struct(name: String(match.1), fields: Self.declarations(in: match.2).flatMap(Self.names))
        }
    }

    /// What stands between the semicolons of a struct.
    private static func declarations(in body: Substring) -> [Substring] {
        body.split(separator: ";").filter { $0.contains { !$0.isWhitespace } }
    }

    /// The names that one declaration declares: `bp_bytes data, length`, `uint16_t path[8]`, `void (*write)(…)`.
    private static func names(_ declaration: Substring) -> [String] {
        if let function = declaration.firstMatch(of: /\(\*(?:_Nullable )?(\w+)\)/) { return [String(function.1)] }
        return declaration.split(separator: ",").compactMap {
            $0.firstMatch(of: /(\w+)\s*(\[\w*\])?\s*$/).map { String($0.1) }
        }
    }

    /// Gives structs two more fields at their end, and their table of fields an entry for one of them.
    mutating func grow(_ structs: [String]) {
        for name in structs {
            text = text.replacing("} \(name);", with: "    uint64_t grown; bp_bytes grown_more;\n} \(name);")
            text = text.replacing("#define BP_LAYOUT { \\", with: "#define BP_LAYOUT { BP_FIELD(\(name), grown), \\")
        }
    }

    /// Takes their last declaration from structs, and its names from the table of fields.
    mutating func shrink(_ structs: [String]) throws {
        for name in structs {
            guard let body = text.firstMatch(of: try Regex("typedef struct \(name) \\{([\\s\\S]*?)\\} \(name);")),
                let range = body.output[1].range, let last = Self.declarations(in: text[range]).last
            else { throw CocoaError(.formatting) }
            text.removeSubrange(last.startIndex...last.endIndex)  // with its semicolon
            for field in Self.names(last) { text = text.replacing("BP_FIELD(\(name), \(field)),", with: "") }
        }
    }
}
