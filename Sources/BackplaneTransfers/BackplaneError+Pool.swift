import Backplane
import BackplaneNetwork

extension BackplaneError {
    /// Returns the error of a transfer that waits for the sign-in of its account.
    static func withoutAccount(_ transfer: Transfer, _ cause: BackplaneError) -> BackplaneError {
        var error = BackplaneError(
            .transferCredentials,
            "the transfer waits for the account `\(transfer.account ?? "")` of the credential `\(transfer.credential ?? "")`; sign it in, or resume the transfer",
            at: transfer.request.printableURL)
        error.causes = [cause]
        return error
    }

    static func otherDigest(_ id: String) -> BackplaneError {
        BackplaneError(
            .transferTaken, "the transfer with this id does not check this SHA-256; remove it first", at: id.shownID)
    }

    static func targetTaken(_ target: String) -> BackplaneError {
        BackplaneError(
            .transferTaken, "another transfer downloads to this file; wait for it, or cancel it", at: target)
    }
}
