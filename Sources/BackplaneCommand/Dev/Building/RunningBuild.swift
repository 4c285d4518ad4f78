import Backplane
import Foundation
import Glibc

/// A build of one product that is under way.
final class RunningBuild {
    let product: DevPackage.Product
    /// In seconds since 1970.
    let began = Date().timeIntervalSince1970
    let before: ProductStamp
    var output: BuildOutput
    private(set) var isCancelled = false
    private let process: ChildProcess

    /// - Parameters:
    ///   - last: the package that was built before.
    ///   - news: the lines that it prints, and how it ended.
    init(_ product: DevPackage.Product, after last: String?, with swiftPM: SwiftPM, _ news: @escaping @Sendable (DevNews) -> Void) throws(BackplaneError) {
        self.product = product
        output = BuildOutput(of: product.package)
        before = ProductStamp(library: product.library, resources: product.resources)
        let outlets = [STDOUT_FILENO, STDERR_FILENO].map { ChildProcess.Outlet(descriptor: $0) { news(.buildLine($0)) } }
        process = try ChildProcess("swift", swiftPM.build(product, after: last), outlets: outlets) { news(.built($0)) }
    }

    /// Asks the package manager to stop; it is killed where it does not.
    func cancel() {
        isCancelled = true
        process.stop(patience: Self.patience)
    }

    /// Tenths of a second.
    private static let patience = 50

    func end(_ ending: ChildProcess.Ending) -> DevLoop.BuildEnd {
        ending == .exit(0) ? .succeeded : isCancelled ? .cancelled : .failed
    }
}
