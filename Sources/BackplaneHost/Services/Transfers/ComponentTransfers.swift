import Backplane
import BackplaneNetwork
import BackplaneTransfers
import CBackplane

/// The transfers of one component, which are those of its plugin.
///
/// In the pool, their ids begin with that of the plugin and a slash.
struct ComponentTransfers: Sendable {
    let host: HostTransfers
    let plugin: String
    let component: String
    let managers: [String]
    let folder: ComponentFolder
    let operations: ServiceOperations

    /// Reads a borrowed transfer in the form for the host's pool.
    ///
    /// - Throws: `network.refused` for a request that is not UTF-8 and a path that escapes the folder;
    ///   `network.unsupported` for options that this host does not support; `transfer.refused` for invalid values.
    func transfer(copying lent: UnsafePointer<bp_transfer>) throws(BackplaneError) -> Transfer {
        let lent: bp_transfer = read(lent)
        var request = try HTTPRequest(copying: lent.request)
        let work: Transfer.Work
        if lent.download.lent.isEmpty {
            request.body = try body(lent, request)
            work = .upload(request)
        } else {
            let settings = Transfer.Download(
                existing: try existing(lent.existing), sha256: lent.sha256.lent.isEmpty ? nil : lent.sha256.array,
                sizeLimit: lent.size_limit > 0 ? lent.size_limit : nil)
            work = .download(request, to: try folder.path(of: lent.download.text, makingFolder: true), settings)
        }
        let id = lent.id.text
        guard !id.isEmpty else {
            throw BackplaneError(
                .transferRefused, "expected an id, found an empty string", at: request.printableURL)
        }
        var transfer = Transfer(name(id), work, owner: plugin, priority: Int(lent.priority))
        (transfer.sender, transfer.managers) = (component, managers)
        for (name, value) in Pairs.copy(lent.named, count: min(lent.named_count, 100)) {
            switch name {
            case "credential": transfer.credential = value
            case "account": transfer.account = value
            default:
                throw BackplaneError(
                    .networkUnsupported, "this host has no transfer option named `\(name)`")
            }
        }
        return transfer
    }

    /// Returns the id of a transfer in the pool.
    func name(_ id: String) -> String { "\(plugin)/\(id)" }

    /// Returns a state of the pool as presented to the component.
    func shown(_ state: TransferState) -> TransferState {
        var state = state
        state.id = String(state.id.dropFirst(plugin.count + 1))
        return state
    }

    private func body(_ lent: bp_transfer, _ request: HTTPRequest) throws(BackplaneError) -> HTTPBody {
        guard lent.piece_count > 0 else { return request.body }
        guard request.body.isEmpty else {
            throw BackplaneError(
                .transferRefused, "the upload has two bodies; provide only one of `request.body` and `pieces`",
                at: request.printableURL)
        }
        let pieces: [bp_transfer_piece] = try Descriptors.read(
            lent.pieces, count: lent.piece_count, of: "the pieces", limit: Descriptors.dataLimit)
        var segments: [BodySegment] = []
        for piece in pieces {
            switch Int(piece.kind) {
            case Int(BP_TRANSFER_BYTES): segments.append(.bytes(piece.content.array))
            case Int(BP_TRANSFER_FILE):
                segments.append(.file(try folder.path(of: piece.content.text, makingFolder: false)))
            default:
                throw BackplaneError(
                    .transferRefused, "unknown kind \(piece.kind) of a piece of the body", at: request.printableURL
                )
            }
        }
        return HTTPBody(segments: segments, type: nil)
    }

    private func existing(_ number: UInt32) throws(BackplaneError) -> ExistingFile {
        switch Int(number) {
        case Int(BP_EXISTING_REPLACE): return .replace
        case Int(BP_EXISTING_KEEP): return .keep
        case Int(BP_EXISTING_NUMBER): return .number
        default: throw BackplaneError(.transferRefused, "unknown policy \(number) for an existing file")
        }
    }
}
