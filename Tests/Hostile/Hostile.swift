import Foundation
import Synchronization

/// Builds libraries that do wrong, one after the other, and shows what a host says of each and what `backplane
/// validate` finds.
@main
enum Hostile {
    private static let usage = """
        hostile [TEXT] [--json]     every hostile library, or those with TEXT in their names: what it does, what a host says, what
                                    `backplane validate` finds
        """

    static func main() async throws {
        var words = Array(CommandLine.arguments.dropFirst())
        if words.first == HostRun.command, words.count > 1 {
            return await HostRun.run(words[1], sha256: words.count > 2 ? words[2] : nil)
        }
        let json = words.contains("--json")
        words.removeAll { $0 == "--json" }
        guard words.count < 2, words.first?.hasPrefix("-") != true else {
            print(usage)
            exit(words.first == "--help" ? 0 : 64)
        }
        var template = Array((NSTemporaryDirectory() + "/hostile-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("there is no temporary folder") }
        let folder = URL(filePath: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
            .resolvingSymlinksInPath().path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let rows = try rows(of: HostileLibrary.all.filter { words.isEmpty || $0.name.contains(words[0]) }, in: folder)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(rows), as: UTF8.self))
        } else {
            show(rows)
        }
    }

    /// What was found, by the place of the library; a few threads fill it.
    private final class Findings: Sendable {
        let next = Mutex(0)
        let rows = Mutex<[Int: Row]>([:])
        let failure = Mutex<(any Error)?>(nil)
    }

    /// A few at a time: most of them wait.
    private static func rows(of libraries: [HostileLibrary], in folder: String) throws -> [Row] {
        let builder = try LibraryBuilder(folder), findings = Findings(), ended = DispatchGroup()
        // First, because a host names what lies beside a missing library.
        for library in libraries where library.isOther { try builder.make(library) }
        for _ in 0..<10 {
            ended.enter()
            Thread.detachNewThread {
                while true {
                    let index = findings.next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard index < libraries.count else { return ended.leave() }
                    do {
                        if !libraries[index].isOther { try builder.make(libraries[index]) }
                        let row = Row(libraries[index], at: builder.path(of: libraries[index]), in: folder)
                        findings.rows.withLock { $0[index] = row }
                    } catch let error as LibraryBuilder.LeftOut {
                        findings.rows.withLock { $0[index] = Row(libraries[index], leftOut: error.reason) }
                    } catch {
                        findings.failure.withLock { $0 = error }
                    }
                }
            }
        }
        ended.wait()
        if let failure = findings.failure.withLock({ $0 }) { throw failure }
        return findings.rows.withLock { rows in libraries.indices.compactMap { rows[$0] } }
    }

    private static func show(_ rows: [Row]) {
        let table =
            [["NAME", "WHAT IT DOES", "HOST SAYS", "VALIDATE FINDS"]]
            + rows.map { row in
                [
                    row.name, row.what, shortened(row.summary, 90),
                    shortened(row.findings.map(\.text).joined(separator: "; "), 90),
                ]
            }
        let widths = (0..<3).map { column in table.map { $0[column].count }.max() ?? 0 }
        for line in table {
            print(
                line.indices.map {
                    $0 < 3 ? line[$0] + String(repeating: " ", count: widths[$0] - line[$0].count) : line[$0]
                }.joined(separator: "  "))
        }
        let ended = rows.filter { !$0.hostSurvived }, leftOut = rows.filter { $0.leftOut != nil }
        if !leftOut.isEmpty { print("\nleft out: \(leftOut.map(\.name).joined(separator: ", "))") }
        print(
            "\n\(rows.count - leftOut.count) libraries; \(rows.count { !$0.findings.isEmpty }) with findings; \(ended.count) ended the host: \(ended.map(\.name).joined(separator: ", "))"
        )
    }

    private static func shortened(_ text: String, _ limit: Int) -> String {
        text.count > limit ? text.prefix(limit - 1) + "…" : text
    }
}

extension Row {
    /// Of what the host said the innermost reason, where it gave one.
    fileprivate var summary: String {
        if let leftOut { return "left out, since it cannot be made here: \(leftOut)" }
        guard hostSurvived, let reason = host.last, reason.hasPrefix("    ") else {
            return host.joined(separator: "; ")
        }
        return String(reason.drop { $0 == " " })
    }
}

extension Row.Finding {
    fileprivate var text: String { "\(id) \(details.first ?? "")" }
}
