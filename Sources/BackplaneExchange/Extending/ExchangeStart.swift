import Backplane
import BackplaneNetwork

/// The filters and observers of a pipeline's exchanges.
package struct ExchangeExtensions: Sendable {
    var filters: [ExchangeFilter]
    /// A function that returns the observers of a new exchange.
    var observers: @Sendable () -> [ExchangeObserver]

    package init(
        filters: [ExchangeFilter] = [],
        observers: @escaping @autoclosure @Sendable () -> [ExchangeObserver] = []
    ) {
        (self.filters, self.observers) = (filters, observers)
    }
}

/// One exchange before its executor is chosen: the request to send, with its filters and observers.
struct ExchangeStart: Sendable {
    private(set) var request: HTTPRequest
    private(set) var options: HTTPOptions
    private(set) var watch: ExchangeWatch
    let filters: FilterRun?
    /// The observation of the exchange; `nil` without observers.
    private(set) var observed: ObservedExchange?

    /// Creates the start of an exchange, and notifies the observers of it.
    init(_ request: HTTPRequest, _ options: HTTPOptions, _ extensions: ExchangeExtensions, _ clock: any DeadlineClock) {
        (self.request, self.options, watch) = (request, options, ExchangeWatch(request, options, clock))
        filters = FilterRun(extensions.filters, options)
        observed = ObservedExchange(
            ExchangeEvent(request, options), extensions.observers().map { observer in { observer.note($0) } }, clock)
        guard let observed else { return }
        self.options.received = { [own = options.received] count in
            own?(count)
            observed.received(count)
        }
        guard !request.body.isEmpty else { return }
        self.options.progress = { [own = options.progress] progress in
            own?(progress)
            observed.sent(progress.sent)
        }
    }

    /// Runs the filters of the request, within the time limits of the exchange.
    mutating func filter() async throws {
        guard let filters else { return }
        request = try await watch.limitedToHead { [request] in try await filters.request(request) }
    }

    /// Continues with other options.
    mutating func follow(_ options: HTTPOptions) {
        self.options = options
        watch = watch.replacing(request, options)
    }

    /// Returns the start of a redirected request, which is part of this exchange.
    func hop(_ request: HTTPRequest, _ options: HTTPOptions) -> ExchangeStart {
        var hop = self
        (hop.request, hop.observed) = (request, nil)
        (hop.options, hop.watch) = (options, ExchangeWatch(request, options, watch.clock))
        return hop
    }
}

extension ExchangeEvent {
    /// Creates the event of the start of an exchange.
    fileprivate init(_ request: HTTPRequest, _ options: HTTPOptions) {
        self.init(
            method: request.method, url: request.printableURL, component: options.sender,
            trace: options.call?.trace?.id)
        attempt = options.attempt - 1
    }
}
