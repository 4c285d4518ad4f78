import Backplane
import FoundationEssentials

extension TransferState: Codable {
    /// Decodes a state from an object.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        self.init(
            id: try values.decode(String.self, forKey: TextKey("id")),
            owner: try values.decodeIfPresent(String.self, forKey: TextKey("owner")) ?? "",
            isUpload: try values.decodeIfPresent(Bool.self, forKey: TextKey("upload")) ?? false)
        // A phase that only a newer host knows counts as running.
        phase = Phase(rawValue: try values.decode(String.self, forKey: TextKey("phase"))) ?? .running
        bytes = try values.decodeIfPresent(Int64.self, forKey: TextKey("bytes")) ?? 0
        total = try values.decodeIfPresent(Int64.self, forKey: TextKey("total"))
        rate = try values.decodeIfPresent(Double.self, forKey: TextKey("bytesPerSecond"))
        timeLeft = try values.decodeIfPresent(Double.self, forKey: TextKey("secondsLeft")).map { .seconds($0) }
        restart = try values.decodeIfPresent(String.self, forKey: TextKey("restart"))
            .flatMap { RestartReason(rawValue: $0) }
        file = try values.decodeIfPresent(String.self, forKey: TextKey("file"))
        wasKept = try values.decodeIfPresent(Bool.self, forKey: TextKey("kept")) ?? false
        status = try values.decodeIfPresent(Int.self, forKey: TextKey("status"))
        response = try values.decodeIfPresent(Data.self, forKey: TextKey("response")).map { Array($0) }
        error = try values.decodeIfPresent(BackplaneError.self, forKey: TextKey("error"))
        number = try values.decodeIfPresent(UInt64.self, forKey: TextKey("number")) ?? 0
    }

    /// Encodes the state as an object, with a response in Base64.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(id, forKey: TextKey("id"))
        if !owner.isEmpty { try values.encode(owner, forKey: TextKey("owner")) }
        if isUpload { try values.encode(true, forKey: TextKey("upload")) }
        try values.encode(phase.rawValue, forKey: TextKey("phase"))
        try values.encode(bytes, forKey: TextKey("bytes"))
        try values.encodeIfPresent(total, forKey: TextKey("total"))
        try values.encodeIfPresent(progress, forKey: TextKey("progress"))
        try values.encodeIfPresent(rate, forKey: TextKey("bytesPerSecond"))
        try values.encodeIfPresent(timeLeft.map { $0 / .seconds(1) }, forKey: TextKey("secondsLeft"))
        try values.encodeIfPresent(restart?.rawValue, forKey: TextKey("restart"))
        try values.encodeIfPresent(file, forKey: TextKey("file"))
        if wasKept { try values.encode(true, forKey: TextKey("kept")) }
        try values.encodeIfPresent(status, forKey: TextKey("status"))
        try values.encodeIfPresent(response.map { Data($0) }, forKey: TextKey("response"))
        try values.encodeIfPresent(error, forKey: TextKey("error"))
        try values.encode(number, forKey: TextKey("number"))
    }
}
