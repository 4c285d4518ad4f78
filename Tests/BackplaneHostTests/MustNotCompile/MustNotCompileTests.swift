import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// What the compiler keeps from a component, by role: a file for each, with the expected errors as comments on their
/// lines.
///
/// ```swift
/// _ = context.store    // error: value of type 'ManagerContext<StoringManager>' has no member 'store'
/// ```
@Suite(.nightly, .timeLimit(.minutes(5)))
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
        #expect(Self.cases.count == 9)
    }
}
