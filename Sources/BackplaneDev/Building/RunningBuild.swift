import Backplane
import BackplaneProcesses
import Foundation
import Glibc
import Synchronization

/// A build of one product that is under way.
final class RunningBuild {
    enum News: Sendable {
        case progress(String)
        /// Another process builds in this folder, and is waited for.
        case waiting(process: Int, folder: String)
        /// Not one that was told before.
        case diagnostic(Diagnostic)
        case ended(ChildProcess.Ending)
    }
    let product: DevPackage.Product
    /// In seconds since 1970.
    let began = Date().timeIntervalSince1970
    let before: ProductStamp
    private(set) var isCancelled = false
    /// Its library lies there already.
    var hasCome = false
    private let listener: Listener
    private let process: ChildProcess

    /// - Parameters:
    ///   - last: the package that was built before.
    init(_ product: DevPackage.Product, after last: String?, with swiftPM: SwiftPM, _ tell: @escaping @Sendable (News) -> Void) throws(BackplaneError) {
        self.product = product
        before = ProductStamp(library: product.library, resources: product.resources)
        let listener = Listener(of: product.package)
        self.listener = listener
        let outlets = [STDOUT_FILENO, STDERR_FILENO].map { descriptor in
            ChildProcess.Outlet(descriptor: descriptor) { line in
                if let obstacle = BuildOutput.obstacle(line) { tell(.waiting(process: obstacle.process, folder: obstacle.folder)) }
            } take: { line in
                if let news = listener.take(line) { tell(news) }
            }
        }
        process = try ChildProcess("swift", swiftPM.build(product, after: last), outlets: outlets) { tell(.ended($0)) }
    }

    /// What the compiler said, in lines.
    var text: [String] { listener.text }

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

/// What a build has printed so far: taken apart where it is read, so that one that prints much waits for that.
private final class Listener: Sendable {
    private let output: Mutex<BuildOutput>

    init(of package: String) { output = Mutex(BuildOutput(of: package)) }

    var text: [String] { output.withLock(\.text) }

    func take(_ line: String) -> RunningBuild.News? {
        switch BuildOutput.line(line) {
        case .progress(let text): .progress(text)
        case .ceremony: nil
        case .text(let text): output.withLock { $0.take(text) }.map(RunningBuild.News.diagnostic)
        }
    }
}
