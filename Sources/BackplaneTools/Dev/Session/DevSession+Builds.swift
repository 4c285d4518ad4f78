import Backplane
import Foundation

// Builds run one at a time.
extension DevSession {
    func start(_ product: DevPackage.Product) {
        do throws(BackplaneError) {
            builds += 1
            let number = builds, send = send
            told.begin(product.id)
            build = try RunningBuild(product, after: lastBuilt, known: told.all, with: command.swiftPM) {
                send(.build($0, of: number))
            }
            lastBuilt = product.package
            pace.begin(at: Date().timeIntervalSince1970)
            printer.print(
                .buildStarted(
                    .init(
                        product: product.name, package: product.package, isSwapped: loop.isHostUp,
                        because: because.sorted().prefix(8).map(\.self))))
            printer.progress("building \(product.name)")
            because = []
        } catch {
            printer.print(.refused(.init(subject: .build, error: error)))
            tell(.built(.failed))
        }
    }

    func take(_ news: RunningBuild.News) {
        guard let build else { return }
        let product = build.product.name
        switch news {
        case .progress(let text):
            printer.progress("building \(product) \(text)")
            guard printer.keepsEveryLine, pace.isDue(at: Date().timeIntervalSince1970) else { break }
            printer.print(.buildProgress(.init(product: product, isSwapped: loop.isHostUp, step: text)))
        case .waiting(let process, let folder):
            printer.print(.buildWaiting(.init(product: product, process: process, folder: folder)))
        case .diagnostic(let diagnostic): printer.print(.diagnostic(.init(product: product, diagnostic: diagnostic)))
        case .ended(let ending): hasEnded(build, ending)
        }
    }

    private func hasEnded(_ build: RunningBuild, _ ending: ChildProcess.Ending) {
        let end = build.end(ending), library = build.product.library
        let hadCome = build.hasCome
        // Decide this before the loop learns of the end: a library that is refused now may fit the next one.
        let isFresh = end == .succeeded && isNew(library)
        self.build = nil
        if end != .cancelled { told.add(build.diagnostics) }
        let outcome: DevEvent.BuildResult.Outcome =
            switch end {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelled: .cancelled
            }
        printer.clearProgress()
        printer.print(
            .buildEnded(
                .init(
                    product: build.product.name, outcome: outcome,
                    time: BuildTime(.seconds(Date().timeIntervalSince1970 - build.began)),
                    isChanged: stamp(of: library) != build.before, isSwapped: loop.isHostUp,
                    text: end == .cancelled ? [] : build.text)))
        if isFresh {
            if hadCome { libraries.expect([library]) }
            tell(.libraries([library]))
        }
        tell(.built(end))
    }
}
