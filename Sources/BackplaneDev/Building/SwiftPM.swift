import Backplane
import BackplaneHost
import BackplanePackages
import BackplaneTerminal

/// How the Swift package manager is asked to build.
package struct SwiftPM: Sendable {
    package var configuration: String
    /// `nil`: each package's own `.build`.
    package var scratchPath: String?
    /// Passed on to every `swift build`.
    package var flags: [String] = []

    package init(configuration: String = "debug", scratchPath: String? = nil, flags: [String] = []) {
        (self.configuration, self.scratchPath, self.flags) = (configuration, scratchPath, flags)
    }

    package static let configurations = ["debug", "release"]

    package struct Unknown: Error, CustomStringConvertible {
        package let description: String
    }

    package static func configuration(_ name: String) throws(Unknown) -> String {
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

    /// Reads what a package consists of. Fetches nothing, and waits for no build.
    ///
    /// - Throws: what the package manager says of it, or of one beside it that it depends on.
    func package(at path: String) throws(BackplaneError) -> DevPackage {
        let scratchPath = FilePath.join(FilePath.folder(of: libraries(of: path)), "backplane-dev")
        do throws(BackplaneError) {
            let facts = try PackageFacts(of: path, scratchPath: scratchPath)
            var others: [String: PackageFacts] = [:], left = facts.neighbours
            while let next = left.popLast() {
                guard next != path, others[next] == nil else { continue }
                let other = try PackageFacts(of: next, scratchPath: scratchPath)
                others[next] = other
                left += other.neighbours
            }
            return DevPackage(facts, at: path, others: others, libraries: libraries(of: path))
        } catch {
            throw error.adding("; mend it, and it is read again", code: .packageUnusable)
        }
    }
}

extension BackplaneError.Code {
    /// The Swift package manager does not understand it.
    static let packageUnusable = Self(rawValue: "package.unusable")
}
