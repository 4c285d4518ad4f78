package import FoundationEssentials

/// The value of a `Retry-After` field (RFC 9110, section 10.2.3).
enum RetryAfter: Equatable {
    case seconds(Int64)
    case date(Date)

    /// Parses a value; returns `nil` for anything but a number of seconds or a date.
    init?(_ text: String) {
        let text = text.trimmed
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            self = .seconds(Int64(text) ?? .max)
        } else if let date = Date(httpDate: text) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns the time to wait; none for a date that has passed.
    func delay(from now: Date) -> Duration {
        let longest = 1e9  // about thirty years
        return switch self {
        case .seconds(let seconds): .seconds(min(seconds, Int64(longest)))
        case .date(let date): .seconds(min(max(date.timeIntervalSince(now), 0), longest))
        }
    }
}

extension Date {
    /// Parses an HTTP date in any of its three forms (RFC 9110, section 5.6.7); returns `nil` for anything else.
    package init?(httpDate text: String) {
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
        var parts = text.split { " ,-".contains($0) }.dropFirst().map { $0 }
        if parts.count == 5, parts[4] == "GMT" {
            parts.removeLast()
        } else if parts.count == 4 {
            parts = [parts[1], parts[0], parts[3], parts[2]]
        } else {
            return nil
        }
        let clock = parts[3].split(separator: ":").compactMap { Int($0) }
        guard let day = Int(parts[0]), let month = Self.month(parts[1]), var year = Int(parts[2]), clock.count == 3,
            (1...31).contains(day), (0...9999).contains(year), (0...23).contains(clock[0]),
            (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        if parts[2].count == 2 { year += year < 70 ? 2000 : 1900 }
        let days = Self.days(year, month, day)
        self.init(timeIntervalSince1970: Double(days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]))
    }

    private static func month(_ name: Substring) -> Int? {
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            .firstIndex(of: String(name)).map { $0 + 1 }
    }

    /// Returns the number of days from 1970-01-01 to a date in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // The year begins in March, so that the day of a leap year is its last.
        let year = month <= 2 ? year - 1 : year, era = year / 400, yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        return String(text)
    }
}
