import BackplaneNetwork

extension Transfer {
    /// The request.
    var request: HTTPRequest {
        get {
            switch work {
            case .download(let request, _, _), .upload(let request): request
            }
        }
        set {
            switch work {
            case .download(_, let path, let settings): work = .download(newValue, to: path, settings)
            case .upload: work = .upload(newValue)
            }
        }
    }

    /// The path of the downloaded file; `nil` for an upload.
    var target: String? {
        if case .download(_, let path, _) = work { path } else { nil }
    }

    /// The options of an exchange that identify its sender.
    var exchange: HTTPOptions {
        var options = HTTPOptions()
        (options.credential, options.account, options.sender) = (credential, account, sender)
        return options
    }

    /// Returns whether both transfers are identical apart from their credentials.
    func isSame(as other: Transfer) -> Bool {
        request.method == other.request.method && request.url == other.request.url && target == other.target
    }
}
