import Backplane
import BackplaneHost

// The cost of showing screens: a list as a page, a change of one row, and many sessions at once.
//
// The lists of 1,000 rows are in windows of this process. The sessions are connections to a server, a process of its
// own, on each of which changes arrive as they do in a browser.
extension BenchSuite {
    static let screens = BenchSuite(name: "screens") { folder in
        let native = try await ShownList(.fastest, in: folder + "/native")
        let encoded: ShownList
        do { encoded = try await ShownList(.encoded, in: folder + "/encoded") } catch {
            await native.close()
            throw error
        }
        return Opened(
            rows: listRows(native, encoded) + sessionRows(in: folder + "/sessions"),
            remark: "the sessions and their server share the processors; 3 rounds, each with a server of its own"
        ) {
            await native.close()
            await encoded.close()
        }
    }

    private static func listRows(_ native: ShownList, _ encoded: ShownList) -> [Row] {
        let name = "list of \(ShownList.rows) rows", change = "\(name), one changed, event to patch"
        return [
            Row(name: "\(name), HTML", unit: .milliseconds, target: .median(atMost: 20)) { try native.render($0) },
            Row(name: "\(change), native", unit: .milliseconds, target: .median(atMost: 5), limit: 1_000) {
                try await native.change($0)
            },
            Row(name: "\(change), encoded", unit: .milliseconds, target: .median(atMost: 5), limit: 1_000) {
                try await encoded.change($0)
            },
        ]
    }

    private static func sessionRows(in folder: String) -> [Row] {
        let name = "\(ScreenLoad.sessions) sessions", presses = Int(Duration.seconds(10) / ScreenLoad.period)
        let figures = SharedFigures { count in try await ScreenLoad.figures(ofPresses: count, in: folder) }
        func row(
            _ name: String, _ figure: String, _ unit: Row.Unit, target: Target? = nil, summary: Row.Summary = .median
        ) -> Row {
            Row(
                name: name, unit: unit, target: target, summary: summary, limit: presses, count: presses, rounds: 3
            ) { try await figures.required(figure, count: $0) }
        }
        return [
            row("\(name), 100 events a second, event to patch, p99", "p99", .milliseconds, target: .median(atMost: 50)),
            row("\(name), 100 events a second, longest", "longest", .milliseconds, summary: .highest),
            row(
                "list of \(ShownList.rows) rows, one changed, sent", "bytes", .bytes, target: .median(atMost: 2_048)),
            row("\(name), memory of one", "memory", .kilobytes, target: .median(atMost: 200)),
        ]
    }
}
