import Backplane
import CBackplane

/// The bodies of one exchange that a component performs for its host, through `backplane.bodies`.
struct CarriedBodies: Sendable {
    /// The maximum number of bytes that cross the boundary at once.
    private static let pieceSize = 256 << 10
    private let table: ConstantPointer<bp_bodies_1>
    private let component: UInt64

    /// Creates access to the bodies through a component's services.
    ///
    /// - Throws: `host.interface-missing` if the host is older than `backplane.bodies`.
    init(_ services: ComponentServices) throws(BackplaneError) {
        guard let table = services.host.table(BP_BODIES, revision: 1, as: bp_bodies_1.self) else {
            throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_BODIES)/1; use a newer host")
        }
        (self.table, component) = (table, services.handle)
    }

    /// Returns a body that is pulled from the host as it is read.
    func stream(_ body: UInt64, length: Int64?) -> HTTPBodyStream {
        HTTPBodyStream(length: length) { [self] in
            let result = await withUnsafeContinuation {
                (reader: ChunkReader) in
                table.pointer.pointee.pull(
                    component, body, UInt64(Self.pieceSize), resumeReader, Box(reader).toContext())
            }
            return try result.get()
        }
    }

    /// Pushes bytes, and returns when the host's reader has consumed them.
    ///
    /// - Throws: `network.body` if the body is no longer read.
    func push(_ bytes: [UInt8], to body: UInt64) async throws(BackplaneError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            try await send(piece, to: body)
        }
    }

    /// Ends a body.
    func end(_ body: UInt64) async throws(BackplaneError) { try await send([], to: body) }

    private func send(_ piece: ArraySlice<UInt8>, to body: UInt64) async throws(BackplaneError) {
        let result = await withUnsafeContinuation {
            (writer: UnsafeContinuation<Result<Void, BackplaneError>, Never>) in
            piece.withUnsafeBufferPointer { bytes in
                table.pointer.pointee.push(
                    component, body, bp_bytes(data: bytes.baseAddress, length: bytes.count),
                    { context, status, payload in
                        let writer = Box<UnsafeContinuation<Result<Void, BackplaneError>, Never>>.take(context)
                        do throws(BackplaneError) {
                            _ = try EncodedAnswer(status, payload).get()
                            writer.resume(returning: .success(()))
                        } catch {
                            writer.resume(returning: .failure(error))
                        }
                    }, Box(writer).toContext())
            }
        }
        return try result.get()
    }
}
