import Foundation
import Testing

@testable import BackplaneHost

/// What the compiler keeps from a component, by role: a file for each, with the expected errors as comments on their
/// lines.
///
/// ```swift
/// _ = context.store    // error: value of type 'ManagerContext<StoringManager>' has no member 'store'
/// ```
@Suite(.timeLimit(.minutes(5)))
struct MustNotCompileTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases").path
    /// The one that must compile.
    private static let control = "WhatEachRoleHas.swift"
    private static let cases = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
        $0 != control
    }.sorted()

    private static func expectedMistakes(of file: String) throws -> [TypeChecker.Mistake] {
        try String(contentsOf: URL(filePath: file), encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated()
            .flatMap { index, line in
                line.components(separatedBy: "// error: ").dropFirst().map {
                    TypeChecker.Mistake(line: index + 1, message: $0.trimmingCharacters(in: .whitespaces))
                }
            }
    }

    @Test(arguments: cases)
    func `a component that takes what its role does not have is refused for that reason alone`(name: String) throws {
        let file = "\(Self.folder)/\(name)"
        let (mistakes, isTaken, output) = try TypeChecker().check(file)
        let expected = try Self.expectedMistakes(of: file)
        #expect(!isTaken && !expected.isEmpty)
        #expect(Set(mistakes) == Set(expected), "\(output)")
    }

    @Test func `what each role has compiles`() throws {
        let (_, isTaken, output) = try TypeChecker().check("\(Self.folder)/\(Self.control)")
        #expect(isTaken && output.isEmpty, "\(output)")
    }

    @Test func `every case is there`() {
        #expect(Self.cases.count == 28)
    }

    @Test func `the page on the compiler's messages quotes what the compiler says of these cases`() throws {
        let page = try String(contentsOfFile: Self.folder + "/../../../../docs/compiler-messages.md", encoding: .utf8)
        let said = try Set(
            Self.cases.flatMap { try Self.expectedMistakes(of: "\(Self.folder)/\($0)").map(\.message) })
        let lines = page.split(separator: "\n")
        let quoted = lines.filter { $0.hasPrefix("## `") }.flatMap(Self.quotes)
        #expect(quoted.count >= 10)
        for message in quoted { #expect(said.contains(message), "\(message)") }
        // Messages of our own begin, in the page, as the compiler says them.
        let cures = said.compactMap { $0.components(separatedBy: " is unavailable: ").dropFirst().first }
        let plain = page.replacing("`", with: "")
        for cure in cures {
            let beginning = cure.replacing("`", with: "").prefix { $0 != ":" && $0 != "," }
            #expect(plain.contains(beginning), "\(cure)")
        }
        // The first column of the table quotes them, some by their beginning.
        let rows = lines.filter { $0.hasPrefix("| `") }.flatMap { Self.quotes(in: $0.dropFirst().prefix { $0 != "|" }) }
        #expect(rows.count >= 10)
        for row in rows {
            let beginning = row.hasSuffix("…") ? String(row.dropLast()).trimmingCharacters(in: .whitespaces) : row
            #expect(
                cures.contains { cure in
                    let cure = cure.replacing("`", with: "")
                    return row.hasSuffix("…") ? cure.hasPrefix(beginning) : cure == beginning
                }, "\(row)")
        }
    }

    /// Returns what stands between the marks of code in a line.
    private static func quotes(in line: Substring) -> [String] {
        line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }
}
