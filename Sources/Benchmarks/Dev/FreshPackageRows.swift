import Backplane

/// The rows for the steps from nothing to a running plugin in a separate package.
///
/// The package has not been built before, but the machine's module caches are warm. Most of the time is spent on
/// compiling the SDK, once for each package.
struct FreshPackageRows: Sendable {
    private let figures: SharedFigures

    init(in folder: String) {
        figures = SharedFigures { _ in
            let package = try FreshPackage(in: "\(folder)/fresh")
            defer { package.remove() }
            var steps = [
                "write": try await package.write(), "build": try await package.build(),
                "call": try await package.call(),
            ]
            steps["all"] = steps.values.reduce(.zero, +)
            return steps.mapValues { $0 / .milliseconds(1) }
        }
    }

    var rows: [Row] {
        let steps = [
            ("backplane new package", "write"), ("swift build", "build"), ("backplane call", "call"),
            ("altogether", "all"),
        ]
        return steps.map { name, figure in
            Row(name: "nothing to a running plugin: \(name)", unit: .milliseconds, limit: 1, rounds: 3) {
                [figures] count in
                try await figures.required(figure, count: count)
            }
        }
    }
}
