import Backplane

// The commands of the user.
extension DevSession {
    func takeKeys() {
        hasKeys = true
        // Otherwise, the legend is printed after the first composition.
        if composition != nil { printer.hint(DevKey.legend) }
    }

    func take(_ key: DevKey) {
        switch key {
        case .rebuild: rebuild()
        case .rollBack:
            guard !lastSwapped.isEmpty else {
                return printer.print(
                    .refused(
                        .init(
                            subject: .rollback,
                            error: BackplaneError(
                                .swapRefused, "nothing to roll back: nothing has been swapped yet"))))
            }
            for plugin in lastSwapped { tell(.rollBack(plugin: plugin)) }
        case .generations: application?.listGenerations()
        case .restart: tell(.restart)
        case .help: printer.hint(DevKey.legend)
        case .quit: isStopping ? endHost() : stop("q")
        }
    }

    /// Builds all products and offers the refused libraries again, because the reason may no longer apply.
    private func rebuild() {
        let products = composition?.products ?? []
        let others = libraries.tryAgain().filter { library in
            !products.contains { $0.library == library } && isNew(library)
        }
        tell(.changed(products))
        if !others.isEmpty { tell(.libraries(others)) }
    }

    func stop(_ reason: String) {
        guard !isStopping else { return }
        isStopping = true
        watching?.close()
        printer.beginToEnd()
        printer.clearProgress()
        printer.print(.stopped(.init(reason: reason)))
        build?.cancel()
        endHost()
    }
}
