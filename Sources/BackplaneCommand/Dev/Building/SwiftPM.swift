import Backplane
import BackplaneHost
import Foundation

/// How the Swift package manager is asked to build.
struct SwiftPM: Sendable {
    var configuration = "debug"
    /// `nil`: each package's own `.build`.
    var scratchPath: String?
    /// Passed on to every `swift build`.
    var flags: [String] = []

    static let configurations = ["debug", "release"]

    struct Unknown: Error, CustomStringConvertible {
        let description: String
    }

    static func configuration(_ name: String) throws(Unknown) -> String {
        guard configurations.contains(name) else { throw Unknown(description: "expected debug or release, found `\(name)`") }
        return name
    }

    /// The folder that it builds a package's products into.
    func libraries(of package: String) -> String {
        FilePath.join(scratchPath.map(FilePath.absolute) ?? FilePath.join(package, ".build"), configuration)
    }

    private func places(of package: String) -> [String] {
        ["--package-path", package] + (scratchPath.map { ["--scratch-path", FilePath.absolute($0)] } ?? [])
    }

    /// Builds a product, as a person would: with the same options, so that neither has to build anything anew for the other.
    ///
    /// - Parameter last: the package that was built before. In one folder for several SwiftPM takes its plan for the plan of any of them.
    func build(_ product: DevPackage.Product, after last: String?) -> [String] {
        let plansAnew = scratchPath != nil && last != product.package
        return ["build"] + places(of: product.package) + ["-c", configuration, "--product", product.name] + (plansAnew ? ["--disable-build-manifest-caching"] : []) + flags
    }

    /// Reads what a package consists of.
    ///
    /// - Throws: what the package manager says of it, or of one that it depends on.
    func package(at path: String) async throws(BackplaneError) -> DevPackage {
        let description = try await describe(path)
        var others: [PackageDescription] = [], left = description.neighbours, seen: Set<String> = [path]
        while let next = left.popLast() {
            guard seen.insert(next).inserted else { continue }
            let other = try await describe(next)
            others.append(other)
            left += other.neighbours
        }
        return DevPackage(description, others: others, libraries: libraries(of: path))
    }

    private func describe(_ package: String) async throws(BackplaneError) -> PackageDescription {
        let said = SaidLines()
        let ending: Result<ChildProcess.Ending, BackplaneError> = await withCheckedContinuation { continuation in
            do throws(BackplaneError) {
                _ = try ChildProcess(
                    "swift", ["package"] + places(of: package) + ["describe", "--type", "json"],
                    outlets: [.init(descriptor: STDOUT_FILENO) { said.output($0) }, .init(descriptor: STDERR_FILENO) { said.error($0) }]
                ) { continuation.resume(returning: .success($0)) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        // What it prints before is about packages that it fetches.
        let text = said.text.output.drop { !$0.hasPrefix("{") }.joined(separator: "\n")
        guard try ending.get() == .exit(0), let description = try? JSONDecoder().decode(PackageDescription.self, from: Data(text.utf8)) else {
            let causes = said.text.errors.suffix(20).map { BackplaneError(.packageUnusable, $0) }
            throw BackplaneError(.packageUnusable, "the Swift package manager cannot read this package; mend it, and it is read again", at: package, causes: causes)
        }
        return description
    }
}

extension BackplaneError.Code {
    /// The Swift package manager does not understand it.
    static let packageUnusable = Self(rawValue: "package.unusable")
}
