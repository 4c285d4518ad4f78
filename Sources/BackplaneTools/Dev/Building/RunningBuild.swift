import Backplane
import Foundation
import Glibc
import Synchronization

/// A build of one product in progress.
final class RunningBuild {
    enum News: Sendable {
        case progress(String)
        /// Another process builds in the same folder, and this build waits for it.
        case waiting(process: Int, folder: String)
        /// A diagnostic that has not been reported before.
        case diagnostic(Diagnostic)
        case ended(ChildProcess.Ending)
    }
    let product: DevPackage.Product
    /// The time at which the build started, in seconds since 1970.
    let began = Date().timeIntervalSince1970
    let before: ProductStamp
    private(set) var isCancelled = false
    /// A Boolean value that indicates whether the build has already written its library.
    var hasCome = false
    private let listener: Listener
    private let process: ChildProcess

    /// Starts a build.
    ///
    /// - Parameters:
    ///   - last: The package that was built before this one.
    ///   - known: The diagnostics that the user has seen, which are not reported again.
    ///   - tell: A function that receives the events of the build, on any thread.
    /// - Throws: `BackplaneError` if the process cannot be started.
    init(
        _ product: DevPackage.Product, after last: String?, known: Set<Diagnostic>, with swiftPM: SwiftPM,
        _ tell: @escaping @Sendable (News) -> Void
    ) throws(BackplaneError) {
        self.product = product
        before = ProductStamp(library: product.library, resources: product.resources)
        let listener = Listener(of: product.package, known: known)
        self.listener = listener
        let outlets = [STDOUT_FILENO, STDERR_FILENO].map { descriptor in
            ChildProcess.Outlet(descriptor: descriptor) { line in
                if let obstacle = BuildOutput.obstacle(line) {
                    tell(.waiting(process: obstacle.process, folder: obstacle.folder))
                }
            } take: { line in
                if let news = listener.take(line) { tell(news) }
            }
        }
        process = try ChildProcess("swift", swiftPM.build(product, after: last), outlets: outlets) { tell(.ended($0)) }
    }

    /// The compiler's output, in lines.
    var text: [String] { listener.text }
    /// The diagnostics in the output.
    var diagnostics: [Diagnostic] { listener.diagnostics }

    /// Asks SwiftPM to stop, and kills it if it does not.
    func cancel() {
        isCancelled = true
        process.stop(patience: Self.patience)
    }

    /// The time within which SwiftPM must stop, in tenths of a second.
    private static let patience = 50

    func end(_ ending: ChildProcess.Ending) -> DevLoop.BuildEnd {
        ending == .exit(0) ? .succeeded : isCancelled ? .cancelled : .failed
    }
}

/// The parsed output of a build so far, read on a thread that thereby slows down a build with excessive output.
private final class Listener: Sendable {
    private let output: Mutex<BuildOutput>

    init(of package: String, known: Set<Diagnostic>) { output = Mutex(BuildOutput(of: package, known: known)) }

    var text: [String] { output.withLock(\.text) }
    var diagnostics: [Diagnostic] { output.withLock(\.diagnostics) }

    func take(_ line: String) -> RunningBuild.News? {
        switch BuildOutput.line(line) {
        case .progress(let text): .progress(text)
        case .ceremony: nil
        case .text(let text): output.withLock { $0.take(text) }.map(RunningBuild.News.diagnostic)
        }
    }
}
