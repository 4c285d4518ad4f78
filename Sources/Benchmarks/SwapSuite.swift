import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import Glibc

// The cost of a swap for its initiator and for callers.
//
// The plugin is a turnstile with a small state. Its library is rebuilt before every swap, without debug information, as
// for deployment. Every round has its own process, because generations are never unloaded. The tests check that no call
// is lost, made twice or answered by the wrong code (docs/testing-backplane.md).
//
// Peers were measured when the bounds were set, on a machine with two cores. Erlang/OTP 25 upgrades a process with
// state in 0.29 ms (p99 0.47); its callers see a gap of 0.41 ms (at most 1.2), and no call is lost. Apache Felix
// updates a bundle in 0.9–1.5 ms (p99 5.8); every time, its callers find no service for 3–4.5 ms (at most 12). Equinox
// takes 1.4–1.7 ms (p99 8), and its callers find no service for 3 ms (at most 14). An update leaves 0.6 KB behind in
// Erlang, 3–36 KB in Felix and 7–53 KB in Equinox, which can unload code.
extension BenchSuite {
    static let swap = BenchSuite(name: "swap") { folder in
        let loading = "the file copied and loaded", quiet = "gap without swaps"
        func idle(_ language: String) -> [(String, Row)] {
            [
                ("swap", Row("swap in \(language)", .milliseconds, beside: loading, target: .atMost(0.6))),
                ("memory", Row("memory that a generation in \(language) leaves", .kilobytes, target: .atMost(64))),
            ]
        }
        let trial = Row("swap in Swift after a trial in a child", .milliseconds, beside: "swap without a trial")
        let wait = Row("longest wait at the gate, 4 callers", .milliseconds, target: .atMost(0.4))
        return Opened([
            .child("swap-swift", in: folder, idle("Swift") + [("trial", trial)]),
            .child("swap-c", in: folder, idle("C")),
            .child(
                "swap-native", in: folder,
                [
                    ("wait", wait), ("drain", Row("drain of the calls in flight, 4 callers", .milliseconds)),
                    ("gap", Row("longest gap with a swap, 4 native callers", .milliseconds, beside: quiet)),
                ]),
            .child(
                "swap-encoded", in: folder,
                [("gap", Row("longest gap with a swap, 4 encoded callers", .milliseconds, beside: quiet))]),
        ])
    }
}

/// The two editions of the turnstile in a language.
enum SwappedEditions {
    case swift, c

    /// Copies the libraries without debug information and unneeded symbols, as they are deployed.
    ///
    /// - Throws: `component.failed` if `strip` fails or is not installed (package `binutils`).
    func deployed(in folder: String) async throws -> [String] {
        var deployed: [String] = []
        for name in self == .swift ? ["Turnstile1", "Turnstile2"] : ["TurnstileInC1", "TurnstileInC2"] {
            let library = try RebuiltLibrary.built(name), path = "\(folder)/\(name).so"
            _ = try await Child.time(["--strip-unneeded", "-o", path, library], program: "strip")
            deployed.append(path)
        }
        return deployed
    }
}

/// Swaps without calls.
enum IdleSwaps {
    private static let count = 200

    static func figures(_ language: SwappedEditions, in folder: String) async throws -> [String: Figure] {
        let editions = try await language.deployed(in: folder)
        var figures = try await TurnstileHost.with(editions, in: folder + "/host", loads: folder + "/loads") {
            try await measure($0)
        }
        figures["swap"]?.baseline = try loading(editions, in: folder)
        return figures
    }

    private static func measure(_ swapped: TurnstileHost) async throws -> [String: Figure] {
        // The first swaps make one-time allocations.
        for _ in 0..<count / 10 { try await swapped.swap() }
        let before = try memory()
        var times: [Double] = []
        for _ in 0..<count { times.append(try await swapped.swap().time / .milliseconds(1)) }
        let left = (try memory() - before) / 1_024 / Double(count)
        // Alternate swaps with and without a trial, because each generation makes the next one a little slower.
        var tried: [Double] = [], untried: [Double] = []
        for _ in 0..<count / 10 {
            tried.append(try await swapped.swap(ChangeOptions()).time / .milliseconds(1))
            untried.append(try await swapped.swap().time / .milliseconds(1))
        }
        return [
            "swap": Figure(Sample(times).median), "memory": Figure(left),
            "trial": Figure(Sample(tried).median, beside: Sample(untried).median),
        ]
    }

    /// Returns the process's private memory, without pages of copies that have not been written to disk yet.
    private static func memory() throws -> Double {
        sync()
        return try ProcessMemory.bytes("Private_Dirty")
    }

    /// Returns the median time of copying and loading a library without a host, in milliseconds.
    private static func loading(_ editions: [String], in folder: String) throws -> Double {
        let times = try (0..<count / 4).map { number in
            let copy = "\(folder)/copy-\(number).so", start = ContinuousClock.now
            try FileManager.default.copyItem(atPath: editions[number % 2], toPath: copy)
            guard dlopen(copy, RTLD_NOW | RTLD_LOCAL) != nil else {
                throw BackplaneError(.pluginDamaged, String(cString: dlerror()), at: copy)
            }
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
        return Sample(times).median
    }
}

/// Swaps during calls by four callers at full speed, and calls for the same time without swaps.
enum LoadedSwaps {
    private static let callers = 4, count = 200

    static func figures(_ lanes: LaneRule, in folder: String) async throws -> [String: Figure] {
        let editions = try await SwappedEditions.swift.deployed(in: folder)
        return try await TurnstileHost.with(
            editions, in: folder + "/host", loads: folder + "/loads", lanes: lanes
        ) { try await measure($0) }
    }

    private static func measure(_ swapped: TurnstileHost) async throws -> [String: Figure] {
        let (swaps, busy) = try await SwapLoad.with(callers, at: swapped) { load in
            var swaps: [(report: ChangeReport, window: Duration)] = []
            for _ in 0..<count {
                load.nextWindow()
                let start = ContinuousClock.now
                let report = try await swapped.swap().report
                // In practice, an edit and a build lie between two swaps; the pause also lets the callers resume.
                try await Task.sleep(for: .milliseconds(2))
                swaps.append((report, ContinuousClock.now - start))
            }
            return swaps
        }
        let (_, quiet) = try await SwapLoad.with(callers, at: swapped) { load in
            for swap in swaps {
                load.nextWindow()
                try await Task.sleep(for: swap.window)
            }
        }
        let drains = swaps.compactMap { $0.report.steps.first { $0.step == .quiesce }?.duration.milliseconds }
        return [
            "wait": Figure(Sample(swaps.map { $0.report.longestWait / .milliseconds(1) }).median),
            "drain": Figure(drains.isEmpty ? 0 : Sample(drains).median),
            "gap": Figure(gap(busy), beside: gap(quiet)),
        ]
    }

    /// Returns the longest gap of any caller in a window, as the median of all windows in milliseconds.
    private static func gap(_ accounts: [SwapLoad.Account]) -> Double {
        // The first window precedes the first swap.
        let gaps = (1...count).map { window in
            accounts.map { $0.gaps.indices.contains(window) ? $0.gaps[window] : .zero }.max() ?? .zero
        }
        return Sample(gaps.map { $0 / .milliseconds(1) }).median
    }
}
