import Backplane
import Foundation

/// One build after the other.
extension DevSession {
    func start(_ product: DevPackage.Product) {
        do throws(BackplaneError) {
            let send = send
            build = try RunningBuild(product, after: lastBuilt, with: command.swiftPM, send)
            lastBuilt = product.package
            printer.print(.buildStarted(.init(product: product.name, package: product.package, because: because.sorted().prefix(8).map(\.self))))
            printer.progress("building \(product.name)")
            because = []
        } catch {
            printer.print(.refused(.init(subject: .build, error: error)))
            tell(.built(.failed))
        }
    }

    func take(_ line: String) {
        guard let build else { return }
        switch BuildOutput.line(line) {
        case .progress(let text): printer.progress("building \(build.product.name) \(text)")
        case .ceremony: break
        case .text(let text):
            if let diagnostic = build.output.take(text) { printer.print(.diagnostic(.init(product: build.product.name, diagnostic: diagnostic))) }
        }
    }

    func take(_ ending: ChildProcess.Ending) {
        guard let build else { return }
        let end = build.end(ending), library = build.product.library
        // Before the build is over for the loop: what is refused now may still fit what comes next.
        let isFresh = end == .succeeded && isNew(library)
        self.build = nil
        let outcome: DevEvent.BuildResult.Outcome = switch end {
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
        printer.clearProgress()
        printer.print(
            .buildEnded(
                .init(
                    product: build.product.name, outcome: outcome, seconds: Date().timeIntervalSince1970 - build.began,
                    isChanged: stamp(of: library) != build.before, isSwapped: loop.isHostUp, text: end == .cancelled ? [] : build.output.text)))
        if isFresh { tell(.libraries([library])) }
        tell(.built(end))
    }
}
