import Backplane
import Foundation
import Glibc

/// A build of one product that is under way.
final class RunningBuild {
    let product: DevPackage.Product
    /// In seconds since 1970.
    let began = Date().timeIntervalSince1970
    let before: ProductStamp
    var output = BuildOutput()
    private(set) var isCancelled = false
    private let process: ChildProcess

    /// - Parameters:
    ///   - last: the package that was built before.
    ///   - news: the lines that it prints, and how it ended.
    init(_ product: DevPackage.Product, after last: String?, with swiftPM: SwiftPM, _ news: @escaping @Sendable (DevNews) -> Void) throws(BackplaneError) {
        self.product = product
        before = ProductStamp(library: product.library, resources: product.resources)
        let outlets = [STDOUT_FILENO, STDERR_FILENO].map { ChildProcess.Outlet(descriptor: $0) { news(.buildLine($0)) } }
        process = try ChildProcess("swift", swiftPM.build(product, after: last), outlets: outlets) { news(.built($0)) }
    }

    /// Asks the package manager to stop, again and again, since it loses a signal of its first tenth of a second; what has not stopped after
    /// a while is killed.
    func cancel() {
        isCancelled = true
        process.send(SIGINT)
        let process = process
        Thread.detachNewThread {
            for _ in 0..<Self.patience {
                usleep(100_000)
                process.send(SIGINT)
            }
            process.send(SIGKILL)
        }
    }

    /// Tenths of a second.
    private static let patience = 50

    func end(_ ending: ChildProcess.Ending) -> DevLoop.BuildEnd {
        ending == .exit(0) ? .succeeded : isCancelled ? .cancelled : .failed
    }
}
