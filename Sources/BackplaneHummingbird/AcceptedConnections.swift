#if Engines
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The connections of another channel, which are all handled.
///
/// A connection that is accepted while its server closes is never handed over. NIO then ends the process, because it
/// releases the connection's writer (`NIOAsyncWriter`) before the writer is finished.
struct AcceptedConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    /// A connection, which is handled when it is handed over or, at the latest, when it is dropped.
    final class Value: ServerChildChannelValue {
        let channel: any Channel
        private let handler: @Sendable () async -> Void
        private let isHandled = Atomic(false)

        fileprivate init(_ channel: any Channel, _ handler: @escaping @Sendable () async -> Void) {
            (self.channel, self.handler) = (channel, handler)
        }

        fileprivate func handle() async {
            isHandled.store(true, ordering: .relaxed)
            await handler()
        }

        deinit {
            guard !isHandled.load(ordering: .relaxed) else { return }
            channel.close(promise: nil)
            Task { [handler] in await handler() }
        }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        base.setup(channel: channel, logger: logger).map { [base] value in
            Value(value.channel) { await base.handle(value: value, logger: logger) }
        }
    }

    func handle(value: Value, logger: Logger) async { await value.handle() }
}
#endif
