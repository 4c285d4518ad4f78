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

/// The toolchain whose runtime this process has loaded, or the one in the PATH.
struct Toolchain {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder `usr`, all links followed.
    let folder: String
    var compiler: String { folder + "/bin/swiftc" }

    /// - Throws: ``Missing`` where there is none.
    init() throws {
        let runtime = (LoadedObjects.paths ?? []).first { $0.hasSuffix("/lib/swift/linux/libswiftCore.so") }
        let beside = runtime.map { FilePath.absolute($0 + "/../../../../bin/swiftc") }
        let inPath = (ProcessEnvironment.value("PATH") ?? "").split(separator: ":").map { "\($0)/swiftc" }
        let places = (beside.map { [$0] } ?? []) + inPath
        guard let found = places.first(where: FileManager.default.isExecutableFile) else {
            throw Missing(
                description:
                    "no `swiftc` in \(places.joined(separator: ", ")); put the toolchain's folder `usr/bin` into PATH")
        }
        folder =
            URL(filePath: found).resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent().path
    }

    /// Runs the compiler, and returns what it says.
    func compile(_ arguments: [String]) throws -> (isTaken: Bool, output: String) {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: compiler)
        process.arguments = arguments
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, pipe, pipe)
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, output)
    }
}

/// The compiler of the running toolchain, which looks at a file as it would in somebody's plugin, against the modules
/// of this build.
struct TypeChecker {
    /// An error of a file: the line it is on, and its words.
    struct Mistake: Hashable, CustomStringConvertible {
        var line: Int
        var message: String
        var description: String { "\(line): \(message)" }
    }

    private let toolchain: Toolchain
    private let build: String

    /// - Throws: ``Toolchain/Missing`` where the compiler or what was built is not found.
    init() throws {
        toolchain = try Toolchain()
        guard let folder = RunningExecutable.folder,
            FileManager.default.fileExists(atPath: folder + "/Modules/Backplane.swiftmodule")
        else {
            throw Toolchain.Missing(
                description: "no folder `Modules` with the SDK lies beside this program; SwiftPM puts it there")
        }
        build = folder
    }

    /// What the compiler says of a file, and whether it took it.
    ///
    /// A plugin is in another package: what the SDK says to its own is not seen.
    func check(_ file: String) throws -> (mistakes: [Mistake], isTaken: Bool, output: String) {
        let (isTaken, output) = try toolchain.compile([
            // As far as the analysis that finds values used after they were consumed.
            "-emit-sil", "-o", "/dev/null", file, "-module-name", "SomePlugin", "-parse-as-library", "-swift-version",
            "6",
            "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility",
            "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature",
            "NonisolatedNonsendingByDefault",
            "-I", build + "/Modules", "-Xcc", "-fmodule-map-file=\(build)/CBackplane.build/module.modulemap",
            "-diagnostic-style=llvm", "-no-color-diagnostics",
        ])
        return (Self.mistakes(in: output, of: file), isTaken, output)
    }

    private static func mistakes(in output: String, of file: String) -> [Mistake] {
        output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(file + ":") else { return nil }
            let parts = line.dropFirst(file.count + 1).split(separator: ":", maxSplits: 3)
            guard parts.count == 4, parts[2] == " error", let number = Int(parts[0]) else { return nil }
            return Mistake(line: number, message: String(parts[3].dropFirst()))
        }
    }
}
