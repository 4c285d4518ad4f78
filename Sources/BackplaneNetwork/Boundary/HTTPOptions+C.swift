import Backplane
package import CBackplane

extension HTTPOptions {
    /// Lends the options for the duration of `use`.
    ///
    /// - Parameters:
    ///   - upload: The path of the file that is the request's body; empty if it is not a file of the component.
    ///   - download: The path of the file to which the response's body is written; empty if it is read.
    func withC<Result>(upload: String, download: String, _ use: (UnsafePointer<bp_http_options>) -> Result) -> Result {
        var flags: UInt32 = 0
        if decompresses { flags |= UInt32(BP_HTTP_DECOMPRESS) }
        if attempted != nil { flags |= UInt32(BP_HTTP_REPORT_ATTEMPTS) }
        return upload.withBytes { upload in
            download.withBytes { download in
                Pairs(named).withPairs { named in
                    var options = bp_http_options(
                        size: UInt32(MemoryLayout<bp_http_options>.size), flags: flags,
                        total_ns: totalTimeout.nanoseconds, head_ns: headTimeout.nanoseconds,
                        read_ns: readTimeout.nanoseconds, max_body: UInt64(clamping: maximumBodySize ?? 0),
                        upload: upload, download: download, named: named.baseAddress, named_count: named.count)
                    return use(&options)
                }
            }
        }
    }

    /// The named options.
    private var named: [(key: String, value: String)] {
        var named: [(key: String, value: String)] = []
        if let executor { named.append(("executor", executor)) }
        if let credential { named.append(("credential", credential)) }
        if let account { named.append(("account", account)) }
        if redirects > 0 { named.append(("redirects", String(redirects))) }
        if let retry { named.append(("retry", retry.text)) }
        if attempt > 1 { named.append(("attempt", String(attempt))) }
        return named
    }

    /// Copies the limits and flags of borrowed options.
    package init(copying options: bp_http_options) {
        self.init()
        totalTimeout = Duration(nanosecondsUnlessZero: options.total_ns)
        headTimeout = Duration(nanosecondsUnlessZero: options.head_ns)
        readTimeout = Duration(nanosecondsUnlessZero: options.read_ns)
        maximumBodySize = options.max_body == 0 ? nil : Int(clamping: options.max_body)
        decompresses = options.flags & UInt32(BP_HTTP_DECOMPRESS) != 0
    }

    /// A Boolean value that indicates whether the exchange has no options.
    var isPlain: Bool {
        totalTimeout == nil && headTimeout == nil && readTimeout == nil && maximumBodySize == nil && !decompresses
            && progress == nil && attempted == nil && executor == nil && redirects == 0
            && retry == nil && credential == nil && account == nil
    }
}

extension HTTPProgress {
    /// Lends the progress for the duration of `use`.
    package func withC(_ use: (UnsafePointer<bp_http_progress>) -> Void) {
        var progress = bp_http_progress(
            size: UInt32(MemoryLayout<bp_http_progress>.size), reserved: 0, sent: sent, to_send: toSend ?? -1,
            received: received, to_receive: toReceive ?? -1)
        use(&progress)
    }

    /// Copies a borrowed progress.
    init(copying progress: UnsafePointer<bp_http_progress>) {
        let progress: bp_http_progress = read(progress)
        self.init()
        (sent, received) = (progress.sent, progress.received)
        toSend = progress.to_send < 0 ? nil : progress.to_send
        toReceive = progress.to_receive < 0 ? nil : progress.to_receive
    }
}

extension Duration {
    fileprivate init?(nanosecondsUnlessZero nanoseconds: Int64) {
        if nanoseconds == 0 { return nil }
        self = .nanoseconds(nanoseconds)
    }
}

extension Duration? {
    /// The limit in nanoseconds; 0 for none, and one nanosecond for a limit that has passed.
    fileprivate var nanoseconds: Int64 { map { Swift.max(1, $0.nanoseconds) } ?? 0 }
}
